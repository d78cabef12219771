import { Decimal } from '@prisma/client/runtime/client';
import { StoredJson, storedPage } from '../../query/paging/paging.ts';
import type { Filter, PageResult, SearchQuery } from '../../query/query-types.ts';
import type { RecordKinds } from '../statements/write-statement.ts';
import { freezeRecords, readKey } from './coalesce.ts';

/** What reads a page and its total: a repository. */
interface PageReads<T extends object> {
  findMany(query: SearchQuery): Promise<StoredRecords<T> | T[]>;
  count(where?: Filter): Promise<number>;
}

/**
 * Reads one page and its total (spec.md: Paginated result): both at once, unless the page is likely to show the total by
 * itself. A total that the page shows is not counted.
 *
 * @param scopeKey tells totals of callers who see different records apart
 */
export async function readPage<T extends object>(
  query: SearchQuery,
  reads: PageReads<T>,
  hints: TotalHints,
  scopeKey = '',
): Promise<PageResult<T>> {
  const { page, pageSize } = query;
  if (query.count === 'none') return finish(query, await reads.findMany(query), { page, pageSize, total: null });
  const hintKey = readKey(scopeKey, { where: query.countWhere });
  const likelyShown = startsAtFirst(query) && hints.endsWithin(hintKey, query.skip + query.take);
  const counting = likelyShown ? undefined : reads.count(query.countWhere);
  // When the page shows the total, the count is not awaited, so its failure is handled here.
  counting?.catch(() => undefined);
  const rows = await reads.findMany(query);
  const shown = startsAtFirst(query) ? revealedTotal(query.skip, query.take, rows.length) : undefined;
  const total = shown ?? (await (counting ?? reads.count(query.countWhere)));
  hints.remember(hintKey, total);
  return finish(query, rows, { page, pageSize, total });
}

/** Whether records are counted from the first of the list on; those after a cursor tell nothing of the ones before. */
function startsAtFirst({ cursor }: SearchQuery): boolean {
  return cursor === undefined || cursor.after === undefined;
}

function finish<T extends object>(
  { cursor, pageSize }: SearchQuery,
  rows: StoredRecords<T> | T[],
  rest: Omit<PageResult<T>, 'data'>,
): PageResult<T> {
  if (rows instanceof StoredRecords && !cursor) return storedPage(rows, rest);
  const records = rows instanceof StoredRecords ? (rows.records as T[]) : rows;
  return { ...(cursor ? cursor.finish(records, pageSize) : { data: records }), ...rest };
}

const remembered = 1000;

/**
 * Remembers the last total of each filter, at most 1,000 of them, the least recently used forgotten first. It only tells
 * whether a page is likely to show the total by itself; no answer is ever made from it.
 */
export class TotalHints {
  readonly #totals = new Map<string, number>();

  /** Whether a page that ends before record `end` likely reaches past the last one. */
  endsWithin(key: string | undefined, end: number): boolean {
    const total = key === undefined ? undefined : this.#totals.get(key);
    return total !== undefined && total < end;
  }

  /** Keeps the total of a filter; a filter without a key is not kept. */
  remember(key: string | undefined, total: number): void {
    if (key === undefined) return;
    this.#totals.delete(key);
    this.#totals.set(key, total);
    if (this.#totals.size > remembered) this.#totals.delete(this.#totals.keys().next().value as string);
  }
}

/**
 * The total that a page reveals by itself: one that is not full, and not empty past the first record, ends the list.
 * Undefined when only a count can tell.
 */
function revealedTotal(skip: number, take: number, found: number): number | undefined {
  return found < take && (found > 0 || skip === 0) ? skip + found : undefined;
}

type Fields = Record<string, unknown>;

const made = {
  date: (text: string) => new Date(text),
  bigint: BigInt,
  decimal: (text: string) => new Decimal(text),
};

/** Records as JSON, and as the ORM gives them for code that reads their fields. */
export class StoredRecords<T extends object = object> extends StoredJson {
  readonly #texts: readonly string[];
  readonly #kinds: RecordKinds;
  #records: readonly T[] | undefined;

  constructor(texts: readonly string[], kinds: RecordKinds) {
    super(`[${texts.join(',')}]`, texts.length);
    this.#texts = texts;
    this.#kinds = kinds;
  }

  /** The first as JSON by itself. */
  get first(): StoredJson {
    return new StoredJson(this.#texts[0] as string, 1);
  }

  /** Frozen, and the same for all who ask. */
  get records(): readonly T[] {
    this.#records ??= freezeRecords(this.fresh());
    return this.#records;
  }

  /** A new object for each caller. */
  fresh(): T[] {
    return this.#texts.map((text) => revive(JSON.parse(text), this.#kinds) as T);
  }
}

/** Gives the values of a record that JSON does not hold their type; changes the record given. */
function revive(record: Fields, kinds: RecordKinds): Fields {
  for (const name in kinds) {
    const kind = kinds[name] as RecordKinds[string];
    const value = record[name];
    if (value === null) continue;
    if (typeof kind === 'string') record[name] = made[kind](value as string);
    else if (Array.isArray(value)) for (const item of value) revive(item, kind);
    else revive(value as Fields, kind);
  }
  return record;
}
