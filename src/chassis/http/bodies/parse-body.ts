import { z } from 'zod';
import { chargeRequest } from '../../context/request-context.ts';
import { ValidationException } from '../../errors/exceptions.ts';

const maximumFields = 50;
const maximumNameLength = 200;
/** What a record in a list costs in units of `chargeRequest`: to store a hundred keeps the process busy for 50 ms, and one for 15. */
const costOfRecord = 5;

/** What is wrong with a body: an error of zod would capture a stack that nobody reads. */
class Issues {
  readonly issues: readonly z.core.$ZodIssue[];

  constructor(issues: readonly z.core.$ZodIssue[]) {
    this.issues = issues;
  }
}

const safeParse = z.core._safeParse(Issues as unknown as z.core.$ZodErrorClass);
/** The words of zod name all unknown fields of an object, which are told one by one. */
const words = {
  error: ({ code }: z.core.$ZodRawIssue) => (code === 'unrecognized_keys' ? 'Unknown field' : undefined),
};
const strictSchemas = new WeakMap<z.ZodType, z.ZodType>();
/** The records of bodies that were charged for before they are parsed. */
const paidRecords = new WeakMap<object, number>();

/**
 * Charges the request for the records of a body as `parseBody` would, which then charges for none of them: for what does
 * costly work before that.
 *
 * @throws TooManyRequestsException, ServiceUnavailableException as `chargeRequest` does
 */
export function payForRecords(body: unknown): void {
  const records = recordsIn(body);
  if (records === 0) return;
  paidRecords.set(body as object, records);
  chargeRequest(records * costOfRecord);
}

/**
 * The request body as the schema gives it (spec.md: Errors, body rules 2 and 5). Keys that an object schema does not
 * know are errors, at any depth, unless the schema itself says what becomes of them.
 *
 * @throws ValidationException `details.errors` maps each field's dotted path to its messages, at most 50 fields; what
 * concerns the body as a whole, such as its absence, stands under `body`
 * @throws TooManyRequestsException, ServiceUnavailableException as `chargeRequest` does: each object in a list of
 * the body costs five units, because it is a record to be looked at and written or looked for
 */
export function parseBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ValidationException({ body: [`Expected a JSON object, found ${kindOf(body)}`] }, undefined, {
      stack: false,
    });
  }
  const records = recordsIn(body) - (paidRecords.get(body) ?? 0);
  if (records > 0) chargeRequest(records * costOfRecord);
  const result = safeParse(strictTwin(schema), body, words);
  if (result.success) return result.data as z.output<S>;
  throw new ValidationException(messagesByField(result.error.issues), undefined, { stack: false });
}

/** The objects in all lists of a body, at any depth; it holds 50,000 values at most. */
function recordsIn(value: unknown, isListed = false): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += recordsIn(item, true);
    return count;
  }
  for (const name in value) count += recordsIn((value as Record<string, unknown>)[name]);
  return isListed ? count + 1 : count;
}

function kindOf(body: unknown): string {
  if (body === undefined) return 'no body';
  if (body === null) return 'null';
  return Array.isArray(body) ? 'an array' : `a ${typeof body}`;
}

/** Where a schema holds those of what is inside its values; the two halves of an intersection know each other's keys. */
const inner = ['element', 'innerType', 'options', 'items', 'rest', 'valueType', 'in', 'getter'] as const;

/** A schema made by z.object drops unknown keys silently, at any depth; its strict twin is made once. */
function strict<T>(part: T): T {
  if (typeof part === 'function') return (() => strict(part())) as T;
  if (Array.isArray(part)) return part.map(strict) as T;
  return part instanceof z.ZodType ? (strictTwin(part) as T) : part;
}

function strictTwin(schema: z.ZodType): z.ZodType {
  const known = strictSchemas.get(schema);
  if (known) return known;
  const def = schema.def as unknown as Record<string, unknown>;
  if (def['type'] !== 'object' && !inner.some((name) => name in def)) return schema;
  const stricter: Record<string, unknown> = { ...def };
  for (const name of inner) if (name in def) stricter[name] = strict(def[name]);
  // Asked for when it is first used: the shape of a tree holds the tree.
  if ('shape' in def)
    Object.defineProperty(stricter, 'shape', { get: () => strictShape(def['shape']), enumerable: true });
  if (def['type'] === 'object' && def['catchall'] === undefined) stricter['catchall'] = z.never();
  const twin = schema.clone(stricter as never);
  strictSchemas.set(schema, twin);
  return twin;
}

function strictShape(shape: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(shape as object).map(([name, field]) => [name, strict(field)]));
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
    else for (const key of issue.keys.slice(0, maximumFields)) add([...issue.path, key], issue.message);
  }
  return Object.fromEntries(errors);
}
