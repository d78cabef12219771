import type { Json } from './deep-merge.ts';

/** The content of a JSON request or response. */
export function jsonContent(schema: Json): Json {
  return { content: { 'application/json': { schema } } };
}

/** The body of a success: `{"success": true, "data": …}` and what else stands beside data. */
export function successBody(data: Json, beside: Record<string, Json> = {}, optional: Record<string, Json> = {}): Json {
  return {
    type: 'object',
    required: ['success', 'data', ...Object.keys(beside)],
    properties: { success: { type: 'boolean', enum: [true] }, data, ...beside, ...optional },
  };
}

/** A JSON response with a header for each entry of `headers`: its name and what it says. */
export function jsonResponse(description: string, schema: Json, headers: Record<string, string> = {}): Json {
  const documented = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(documented.length > 0 && { headers: Object.fromEntries(documented) }),
    ...jsonContent(schema),
  };
}
