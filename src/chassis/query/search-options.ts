import { z } from 'zod';
import { defaultPaging, paginationSchemaFor, type QueryInput, readPaging } from './paging/paging.ts';
import { badParameter, inParameter, parseJson } from './parse/parameter.ts';
import type { SortDirection } from './policy/policy-rules.ts';
import { defaultQueryLimits, maxSkip } from './policy/query-limits.ts';

type Defaults = typeof defaultQuerySchemas;
type Output<Q extends Partial<QuerySchemas>, K extends keyof QuerySchemas> = z.output<
  Q[K] extends z.ZodType ? Q[K] : Defaults[K]
>;

/** What a find request asked for, each part in the type of its schema (spec.md: Query parameters, rule 1). */
interface FindOptions<Q extends Partial<QuerySchemas> = Defaults> {
  include: Output<Q, 'includeSchema'>;
  orderBy: Output<Q, 'orderBySchema'>;
  where: Output<Q, 'whereSchema'>;
}

/** What a program or a request asks for (spec.md: SearchOptions). `page` is 1-based. */
export interface SearchOptions<Q extends Partial<QuerySchemas> = Defaults> extends Partial<FindOptions<Q>> {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/**
 * Makes the options of a program safe to use: `page` and `pageSize` are clamped into 1 to what a database can skip, and
 * 1 to 100, with defaults 1 and 10; keys of `orderBy` that have no direction are dropped (spec.md: Limits).
 * Unlike a request, a program is never refused.
 */
export function sanitizeSearchOptions<T extends SearchOptions>(
  options: T,
  maxPageSize = defaultQueryLimits.pageSize,
): T & { page: number; pageSize: number } {
  const pageSize = clamp(options.pageSize, defaultPaging.pageSize, maxPageSize);
  const page = clamp(options.page, defaultPaging.page, Math.floor(maxSkip / pageSize));
  const { orderBy } = options;
  if (typeof orderBy !== 'object' || orderBy === null) return { ...options, page, pageSize };
  const directed = Object.entries(orderBy).filter(([, direction]) => isDirection(direction));
  return { ...options, page, pageSize, orderBy: Object.fromEntries(directed) };
}

function clamp(value: unknown, fallback: number, max: number): number {
  const number = typeof value === 'number' && !Number.isNaN(value) ? Math.floor(value) : fallback;
  return Math.min(Math.max(number, 1), max);
}

function isDirection(value: unknown): value is SortDirection {
  return value === 'asc' || value === 'desc';
}

const jsonParameters = ['include', 'orderBy', 'where'] as const;

/**
 * Reads one JSON parameter by a schema (spec.md: Query parameters of list requests, rules 3 and 4).
 *
 * @param json the parameter's text; undefined is given to the schema as it is
 * @param name what the error calls the parameter
 * @throws BadRequestException when the text is not JSON, exceeds `defaultQueryLimits`, or fails the schema
 */
export function validateParam<S extends z.ZodType>(
  json: string | undefined,
  schema: S,
  name = 'parameter',
): z.output<S> {
  const value = json === undefined ? undefined : inParameter(name, () => parseJson(json, defaultQueryLimits));
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  throw badParameter(name, issues, result.error);
}

/**
 * Reads the parameters of a find request (spec.md: Query parameters of list requests, rule 1).
 *
 * @param schemas replaces any of the default schemas
 * @throws BadRequestException for a parameter that fails its schema, and for any other parameter
 */
export function buildFindOptions<Q extends Partial<QuerySchemas> = typeof defaultQuerySchemas>(
  query: QueryInput,
  schemas?: Q,
): FindOptions<Q> {
  for (const name of Object.keys(query)) {
    if ((jsonParameters as readonly string[]).includes(name) || query[name] === undefined) continue;
    throw badParameter(name, [
      { path: '', message: `not a parameter of this list; expected ${jsonParameters.join(', ')}` },
    ]);
  }
  return jsonOptions(query, schemas);
}

/**
 * Reads the parameters of a paginated request (spec.md: Query parameters of list requests, rule 2). `page` and
 * `pageSize` take their defaults 1 and 10 before the schema is applied; it is also given every parameter that is none
 * of the five, which the default schema refuses.
 *
 * @param schemas replaces any of the default schemas
 * @throws BadRequestException for a parameter that fails its schema
 */
export function buildSearchOptions<Q extends Partial<QuerySchemas> = typeof defaultQuerySchemas>(
  query: QueryInput,
  schemas?: Q,
): FindOptions<Q> & { page: number; pageSize: number } {
  const { include, orderBy, where, ...rest } = query;
  const paging = readPaging(rest, schemas?.paginationSchema ?? defaultQuerySchemas.paginationSchema);
  return { ...paging, ...jsonOptions<Q>({ include, orderBy, where }, schemas) };
}

function jsonOptions<Q extends Partial<QuerySchemas>>(query: QueryInput, schemas: Q | undefined): FindOptions<Q> {
  const read = (name: (typeof jsonParameters)[number]) => {
    const schema: z.ZodType = schemas?.[`${name}Schema`] ?? defaultQuerySchemas[`${name}Schema`];
    return validateParam(query[name] as string | undefined, schema, name);
  };
  return { include: read('include'), orderBy: read('orderBy'), where: read('where') } as FindOptions<Q>;
}

/** The four schemas that check query parameters; each can be replaced (spec.md: QuerySchemas). */
export interface QuerySchemas {
  includeSchema: z.ZodType;
  orderBySchema: z.ZodType;
  whereSchema: z.ZodType;
  paginationSchema: z.ZodType;
}

/** Any map of relation names; permissive, so a list policy is the better choice for what strangers send. */
const includeSchema = z.record(z.string(), z.any()).optional();

/** Any map of field names to 'asc' or 'desc'. */
const orderBySchema = z.record(z.string(), z.enum(['asc', 'desc'])).optional();

/** Any map of conditions; permissive, so a list policy is the better choice for what strangers send. */
export const whereSchema = z.record(z.string(), z.any()).optional();

/** `page` a positive integer, `pageSize` a positive integer of at most 100, nothing else (spec.md: Limits). */
const paginationSchema = paginationSchemaFor({ pageSize: 100 });

/** The schemas that hold when none are given. */
export const defaultQuerySchemas = Object.freeze({ includeSchema, orderBySchema, whereSchema, paginationSchema });
