import type { Filter } from '../../query/query-types.ts';
import { asList } from '../reads/provider-filter.ts';

/** The columns that a scope compares with one value each: those that a new row gets. */
export function fixedColumns(filter: Filter | undefined): Filter {
  const fixed: Filter = {};
  for (const [name, value] of Object.entries(filter ?? {})) {
    if (name === 'AND') for (const part of asList(value)) Object.assign(fixed, fixedColumns(part as Filter));
    else if (isValue(value)) fixed[name] = value;
    else if (isEquals(value)) fixed[name] = value.equals;
  }
  return fixed;
}

/** The columns that a scope wants to be null. */
export function nullColumns(filter: Filter | undefined): string[] {
  return Object.entries(filter ?? {}).flatMap(([name, value]) =>
    name === 'AND' ? asList(value).flatMap((part) => nullColumns(part as Filter)) : value === null ? [name] : [],
  );
}

/** Whether a scope says no more than `fixedColumns` and `nullColumns`, so that rows are in it which are written. */
export function isFixed(filter: Filter): boolean {
  return Object.entries(filter).every(([name, value]) =>
    name === 'AND'
      ? asList(value).every((part) => isFixed(part as Filter))
      : value === null || isValue(value) || isEquals(value),
  );
}

function isEquals(value: unknown): value is { equals: unknown } {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.length === 1 && entries[0]?.[0] === 'equals' && isValue(entries[0][1]);
}

function isValue(value: unknown): boolean {
  return value instanceof Date || (typeof value !== 'object' && value !== undefined);
}

/** The value that a column gets; an update may say it as `{ set: value }`. */
export function written(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'set' in value ? value.set : value;
}

/** Whether two values of a column are the same. */
export function same(given: unknown, fixed: unknown): boolean {
  return given === fixed || (given instanceof Date && fixed instanceof Date && given.getTime() === fixed.getTime());
}

/** Rows that are stored together often refer to the same record, which is looked up once. */
export function sameKey(one: Filter, other: Filter): boolean {
  return Object.entries(one).every(([name, value]) => same(value, other[name]));
}
