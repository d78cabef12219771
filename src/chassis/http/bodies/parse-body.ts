import { z } from 'zod';
import { ValidationException } from '../../errors/exceptions.ts';

const maximumFields = 50;
const maximumNameLength = 200;
const strictSchemas = new WeakMap<z.ZodType, z.ZodType>();

/**
 * The request body as the schema gives it (spec.md: Errors, body rules 2 and 5). Keys that an object schema does not
 * know are errors, unless the schema itself says what becomes of them.
 *
 * @throws ValidationException `details.errors` maps each field's dotted path to its messages, at most 50 fields; what
 * concerns the body as a whole, such as its absence, stands under `body`
 */
export function parseBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ValidationException({ body: [`Expected a JSON object, found ${kindOf(body)}`] }, undefined, {
      stack: false,
    });
  }
  const result = strict(schema).safeParse(body);
  if (result.success) return result.data as z.output<S>;
  throw new ValidationException(messagesByField(result.error.issues), undefined, { cause: result.error, stack: false });
}

function kindOf(body: unknown): string {
  if (body === undefined) return 'no body';
  if (body === null) return 'null';
  return Array.isArray(body) ? 'an array' : `a ${typeof body}`;
}

/** A schema made by z.object drops unknown keys silently; its strict twin is made once. */
function strict(schema: z.ZodType): z.ZodType {
  let twin = strictSchemas.get(schema);
  if (twin === undefined) {
    twin = schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;
    strictSchemas.set(schema, twin);
  }
  return twin;
}

function messagesByField(issues: readonly z.core.$ZodIssue[]): Record<string, string[]> {
  const errors = new Map<string, string[]>();
  const add = (path: readonly PropertyKey[], message: string) => {
    const field = path.map(String).join('.').slice(0, maximumNameLength) || 'body';
    const messages = errors.get(field);
    if (messages) messages.push(message);
    else if (errors.size < maximumFields) errors.set(field, [message]);
  };
  for (const issue of issues.slice(0, maximumFields)) {
    if (issue.code !== 'unrecognized_keys') add(issue.path, issue.message);
    else for (const key of issue.keys.slice(0, maximumFields)) add([...issue.path, key], 'Unknown field');
  }
  return Object.fromEntries(errors);
}
