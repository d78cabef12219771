import type { Filter, SearchQuery } from '../../../src/chassis/query/query-types.ts';

export type Row = Record<string, unknown> & { id: string };

/** Reads rows in memory as a database does: filtered, with nulls as in SQL, in order, no more than asked for. */
export function readRows(rows: readonly Row[], query: SearchQuery): Row[] {
  const sorted = rows
    .filter((row) => matches(row, query.where ?? {}))
    .sort((left, right) => compareBy(query.orderBy, left, right));
  return sorted.slice(query.skip, query.skip + query.take).map((row) => pick(row, query.select) as Row);
}

function matches(row: Filter | null, filter: Filter): boolean {
  return Object.entries(filter).every(([key, condition]) => {
    if (key === 'AND') return (condition as Filter[]).every((part) => matches(row, part));
    if (key === 'OR') return (condition as Filter[]).some((part) => matches(row, part));
    if (key === 'NOT') return !matches(row, condition as Filter);
    return row !== null && holds(row[key], condition);
  });
}

function holds(value: unknown, condition: unknown): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition;
  const { gt, gte, lt, lte, not, ...related } = condition as Filter;
  if (not === null) return value !== null;
  if (Object.keys(related).length > 0) return matches(value as Filter | null, related);
  if (value === null) return false;
  const [text, compare] = [value as string, [gt, gte, lt, lte] as (string | undefined)[]];
  const [above, from, below, to] = compare;
  return (
    (above === undefined || text > above) &&
    (from === undefined || text >= from) &&
    (below === undefined || text < below) &&
    (to === undefined || text <= to)
  );
}

function compareBy(order: SearchQuery['orderBy'], left: Row, right: Row): number {
  for (const term of order) {
    const [direction, a, b] = resolve(term, left, right);
    if (a === b) continue;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * (direction === 'asc' ? 1 : -1);
  }
  return 0;
}

function resolve(term: Filter, left: Filter | null, right: Filter | null): [string, string | null, string | null] {
  const [[name, inner]] = Object.entries(term) as [[string, string | Filter]];
  const [a, b] = [left?.[name] ?? null, right?.[name] ?? null];
  if (typeof inner === 'string') return [inner, a as string | null, b as string | null];
  if ('sort' in inner) return [inner.sort as string, a as string | null, b as string | null];
  return resolve(inner, a as Filter | null, b as Filter | null);
}

function pick(row: Filter, select: Filter): Filter {
  const entries = Object.entries(select).filter(([name]) => name in row);
  return Object.fromEntries(
    entries.map(([name, inner]) => {
      const value = row[name];
      return [
        name,
        inner === true || value === null ? value : pick(value as Filter, (inner as { select: Filter }).select),
      ];
    }),
  );
}
