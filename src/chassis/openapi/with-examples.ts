import { isJson, type Json } from './deep-merge.ts';

/** What the page offers for one operation. */
export interface OperationExample {
  /** Values of parameters in the path. */
  path?: Json;
  /** Values of parameters in the query. */
  query?: Json;
  /** Values of headers, by the name that the document has. */
  headers?: Json;
  /** The JSON body. */
  body?: unknown;
  /** Why there is no example that can be sent as it is, and what to do; the page shows it with the operation. */
  none?: string;
}

/**
 * A copy of a document whose operations offer these examples, by operation id, in place of those made of the schemas. An
 * operation without an example says why in its description, and for programs in `x-no-example`.
 */
export function withExamples(document: Json, examples: Record<string, OperationExample>): Json {
  // Operations may share parts; a copy by way of text gives each its own.
  const copy = JSON.parse(JSON.stringify(document)) as Json;
  for (const item of Object.values((copy['paths'] ?? {}) as Json)) {
    for (const operation of Object.values(isJson(item) ? item : {})) {
      const example = isJson(operation) && examples[String(operation['operationId'])];
      if (example) offer(operation, example);
    }
  }
  return copy;
}

function offer(operation: Json, { path = {}, query = {}, headers = {}, body, none }: OperationExample): void {
  for (const parameter of (operation['parameters'] ?? []) as Json[]) {
    const values = ({ path, query, header: headers } as Record<string, Json>)[String(parameter['in'])] ?? {};
    const name = String(parameter['name']);
    if (name in values) exampleHolder(parameter)['example'] = values[name];
  }
  const { content } = (operation['requestBody'] ?? {}) as { content?: Record<string, Json> };
  if (body !== undefined && content?.['application/json']) content['application/json']['example'] = body;
  if (none === undefined) return;
  operation['x-no-example'] = none;
  operation['description'] = [operation['description'], `No example can be sent as it is. ${none}`]
    .filter(Boolean)
    .join('\n\n');
}

/** A parameter that is JSON has its example with its content. */
function exampleHolder(parameter: Json): Json {
  const content = parameter['content'] as Record<string, Json> | undefined;
  return content?.['application/json'] ?? parameter;
}
