import { AnyNull } from '@prisma/client/runtime/client';
import type { JsonComparison, JsonPath } from '../../query/json-comparison.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DatabaseProvider } from '../client/database-url.ts';

/**
 * A comparison of a Json field in the ORM's form. Without a path, null is a field without a value as well as one that
 * holds the null of JSON; a value that a path does not lead to equals nothing, and is not `not` anything.
 */
export function jsonFilter(field: string, comparison: JsonComparison, provider: DatabaseProvider): Filter {
  const { path, operator, value } = comparison;
  if (path.length > 0) return { [field]: { path: pathFor[provider](path), [operator]: value } };
  if (value !== null) return { [field]: { [operator]: value } };
  const isNull = { [field]: { equals: AnyNull } };
  return operator === 'equals' ? isNull : { NOT: isNull };
}

const pathFor: Record<DatabaseProvider, (path: JsonPath) => unknown> = {
  postgresql: (path) => path.map(String),
  sqlite: (path) => `$${path.map((step) => (typeof step === 'number' ? `[${step}]` : `."${step}"`)).join('')}`,
};
