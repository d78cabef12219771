import { z } from 'zod';
import { maxSkip } from './query-limits.ts';
import { badParameter } from './query-refusal.ts';

/** Parameters of a request's query by name; a parameter that is repeated has no place here. */
export type QueryInput = Readonly<Record<string, unknown>>;

/** The page that a request gets when it names none (spec.md: Limits). */
export const defaultPaging: Readonly<{ page: number; pageSize: number }> = Object.freeze({ page: 1, pageSize: 10 });

const integer = /^(0|-?[1-9]\d{0,14})$/;

/** A strict pagination schema with a largest `page` and `pageSize` (spec.md: QuerySchemas). */
export function paginationSchemaFor(limits: { page?: number; pageSize: number }) {
  const page = z.int().positive();
  return z.strictObject({
    page: limits.page === undefined ? page : page.max(limits.page),
    pageSize: z.int().positive().max(limits.pageSize),
  });
}

/**
 * Reads `page` and `pageSize` by a schema, after the defaults took the place of what was left out
 * (spec.md: Query parameters of list requests, rule 5). Only plain decimal integers are numbers.
 */
export function readPaging(
  query: QueryInput,
  schema: z.ZodType,
  defaults = defaultPaging,
): { page: number; pageSize: number } {
  const input: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    input[name] = name === 'page' || name === 'pageSize' ? toNumber(name, value) : value;
  }
  const result = schema.safeParse(input);
  if (!result.success) throw badPaging(result.error);
  const { page, pageSize } = result.data as { page: number; pageSize: number };
  checkReach(page, pageSize);
  return { page, pageSize };
}

function badPaging(error: z.ZodError): Error {
  const issues = error.issues.map(({ message }) => ({ path: '', message }));
  const [first] = error.issues;
  const parameter = first?.code === 'unrecognized_keys' ? first.keys[0] : first?.path.join('.');
  return badParameter(parameter ?? 'page', issues, error);
}

function toNumber(name: string, value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && integer.test(value)) return Number(value);
  throw badParameter(name, [{ path: '', message: 'expected a decimal integer, such as 2' }]);
}

function checkReach(page: number, pageSize: number): void {
  if (page * pageSize <= maxSkip) return;
  const message = `expected a page whose end is at most record ${maxSkip}, got page ${page} of ${pageSize} records`;
  throw badParameter('page', [{ path: '', message }]);
}
