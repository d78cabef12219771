/** A filter in the ORM's vocabulary, the same for both databases; the database layer adapts it to the one in use. */
export type Filter = Record<string, unknown>;

/** What to read of each record: fields and relations. Nothing that it does not name leaves the database. */
export type Selection = Record<string, unknown>;

/** The order of a list in the ORM's form; it always ends with the primary key. */
export type Order = Record<string, unknown>[];

/** Leaves the event loop to others for a turn, between two pieces of long work. */
export type Pause = () => Promise<void>;

/** Puts computed fields into records that were read. */
export interface RecordCompletion {
  /** Whether a record's own columns say all that is added, so that its version tells of a change. */
  readonly own: boolean;
  /**
   * The records as they leave, in their order; those given are left as they are.
   *
   * @param pause is waited for after each few hundred of them, related ones too; nothing is by default
   */
  of(records: readonly object[], pause?: Pause): Promise<Record<string, unknown>[]>;
}

/** What a request for one record may say. */
export interface GetQuery {
  readonly model: string;
  readonly select: Selection;
  /** What the query costs the database, in units of finding one record by an index (query-cost.ts). */
  readonly cost: number;
  /** How many records the answer may hold, related ones among them. */
  readonly records: number;
  /** Completes the record that is read; undefined where it has no computed field. */
  readonly completion?: RecordCompletion | undefined;
}

/** A checked and complete list query. */
export interface FindQuery {
  readonly model: string;
  readonly select: Selection;
  /**
   * What the query costs the database, in units of finding one record by an index, for a table of 100,000 records
   * (query-cost.ts); absent from queries that a program wrote itself.
   */
  readonly cost?: number;
  /** Records that the answer may hold at most, related ones among them; absent from queries that a program wrote itself. */
  readonly records?: number;
  readonly where?: Filter;
  readonly orderBy: Order;
  /** Records to read at most. With a cursor it is one more than `pageSize`, which tells whether another page follows. */
  readonly take: number;
  /** Completes the records that are read; undefined where they have no computed field. */
  readonly completion?: RecordCompletion | undefined;
}

/** A checked and complete query for one page. */
export interface SearchQuery extends FindQuery {
  /** 1-based. With a cursor: the ordinal of the page in this traversal. */
  readonly page: number;
  readonly pageSize: number;
  /** Records to skip; 0 with a cursor. */
  readonly skip: number;
  /** Whether `total` is wanted; `none` makes it null. */
  readonly count: 'exact' | 'none';
  /** What of `cost` is for `total`, which may be known already; absent from queries that a program wrote itself. */
  readonly costOfCount?: number;
  /** The filter that `total` counts; unlike `where` it knows nothing of a cursor's position. */
  readonly countWhere?: Filter;
  /** Present in keyset mode. */
  readonly cursor?: CursorPage;
}

/** One page of a traversal by cursor. */
export interface CursorPage {
  /** The filter of the records after the cursor; undefined at the start. */
  readonly after: Filter | undefined;
  /** The page's records out of those that were read, `pageSize` + 1 at most, and where the next page starts. */
  finish<T extends object>(rows: readonly T[], pageSize: number): { data: T[]; nextCursor: string | null };
  /** Whether records are read as they are answered, so that `finish` takes nothing out of them. */
  readonly isAsAsked: boolean;
  /** Where the page after this record starts. */
  cursorAt(last: object): string;
}

/** One page of records (spec.md: Paginated result). */
export interface PageResult<T = unknown> {
  data: T[];
  page: number;
  pageSize: number;
  /** All matching records; null when the request said `count=none`. */
  total: number | null;
  /** Where the next page starts, null at the end; only in keyset mode. */
  nextCursor?: string | null;
}
