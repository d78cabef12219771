import { AnyNull } from '@prisma/client/runtime/client';
import { isPlace, type JsonComparison, type JsonPath } from '../../query/parse/json-comparison.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DatabaseProvider } from '../client/database-url.ts';

/**
 * A comparison of a Json field in the ORM's form. Without a path, null is a field without a value as well as one that
 * holds the null of JSON; a value that a path does not lead to equals nothing, and is not `not` anything. A step that is
 * a whole number leads into a list by its place, from the end where it is negative, and into an object by its key.
 */
export function jsonFilter(field: string, comparison: JsonComparison, provider: DatabaseProvider): Filter {
  const { path, operator, value } = comparison;
  if (path.length > 0) {
    const forms = pathsFor[provider](path).map((form) => ({ [field]: { path: form, [operator]: value } }));
    return forms.length === 1 ? (forms[0] as Filter) : { OR: forms };
  }
  if (value !== null) return { [field]: { [operator]: value } };
  const isNull = { [field]: { equals: AnyNull } };
  return operator === 'equals' ? isNull : { NOT: isNull };
}

/** SQLite tells a key from a place in a list, so both are asked for; a value is an object or a list, never both. */
const pathsFor: Record<DatabaseProvider, (path: JsonPath) => unknown[]> = {
  postgresql: (path) => [path.map(String)],
  sqlite: (path) => path.reduce((heads, step) => heads.flatMap((head) => stepsOf(step).map((s) => head + s)), ['$']),
};

function stepsOf(step: string | number): string[] {
  if (!isPlace(step)) return [`."${step}"`];
  const place = Number(step);
  return [`."${step}"`, place < 0 ? `[#${place}]` : `[${place}]`];
}
