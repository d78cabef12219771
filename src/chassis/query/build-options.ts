import type { z } from 'zod';
import { type QueryInput, readPaging } from './paging.ts';
import { parseJson } from './parse-json.ts';
import { defaultQueryLimits } from './query-limits.ts';
import { badParameter, inParameter } from './query-refusal.ts';
import { defaultQuerySchemas, type QuerySchemas } from './query-schemas.ts';
import type { FindOptions } from './search-options.ts';

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
