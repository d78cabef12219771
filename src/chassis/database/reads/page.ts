import type { Filter, PageResult, SearchQuery } from '../../query/query-types.ts';
import { revealedTotal, type TotalHints } from './page-total.ts';
import { readKey } from './read-key.ts';

/** What reads a page and its total: a repository. */
export interface PageReads<T> {
  findMany(query: SearchQuery): Promise<T[]>;
  count(where?: Filter): Promise<number>;
}

/**
 * Reads one page and its total (spec.md: Paginated result): both at once, unless the page is likely to show the total by
 * itself. A total that the page shows is not counted.
 */
export async function readPage<T extends object>(
  query: SearchQuery,
  reads: PageReads<T>,
  hints: TotalHints,
): Promise<PageResult<T>> {
  const { page, pageSize } = query;
  if (query.count === 'none') return { ...finish(query, await reads.findMany(query)), page, pageSize, total: null };
  const hintKey = readKey('', { where: query.countWhere });
  const likelyShown = startsAtFirst(query) && hints.endsWithin(hintKey, query.skip + query.take);
  const counting = likelyShown ? undefined : reads.count(query.countWhere);
  // When the page shows the total, nobody waits for the count, so nobody else would hear of its failure.
  counting?.catch(() => undefined);
  const rows = await reads.findMany(query);
  const shown = startsAtFirst(query) ? revealedTotal(query.skip, query.take, rows.length) : undefined;
  const total = shown ?? (await (counting ?? reads.count(query.countWhere)));
  hints.remember(hintKey, total);
  return { ...finish(query, rows), page, pageSize, total };
}

/** Whether records are counted from the first of the list on; those after a cursor tell nothing of the ones before. */
function startsAtFirst({ cursor }: SearchQuery): boolean {
  return cursor === undefined || cursor.after === undefined;
}

function finish<T extends object>(
  { cursor, pageSize }: SearchQuery,
  rows: T[],
): { data: T[]; nextCursor?: string | null } {
  return cursor ? cursor.finish(rows, pageSize) : { data: rows };
}
