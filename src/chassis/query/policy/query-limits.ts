/** Bounds on what one list request may ask for; every one of them keeps a stranger from making a request expensive. */
export interface QueryLimits {
  /** Characters of one JSON parameter. Default 8192. */
  json: number;
  /** Brackets open at once in one JSON parameter. Default 24. */
  nesting: number;
  /** Keys in one JSON parameter, at all levels. Default 100. */
  keys: number;
  /** Items of one array, of values or of conditions. Default 100. */
  in: number;
  /** Characters of one string. Default 500. */
  string: number;
  /** Relations passed through on one path of `where` or `include`. Default 3. */
  depth: number;
  /** Relations that one `where` may ask about. Default 5. */
  relations: number;
  /** Times that one `where` may look through a relation to many, never below another relation. Default 3. */
  manyRelations: number;
  /**
   * Searches through texts in one `where`: contains, startsWith, endsWith, and each value compared with
   * `mode: 'insensitive'`, which no index serves. Default 5.
   */
  searches: number;
  /** Characters of a text that is searched for. Default 100. */
  searchText: number;
  /**
   * What one request may cost the database by its filter, order, includes and page, in units of finding one record by an
   * index (query-cost.ts). Default 1500, which takes PostgreSQL about a second on 100,000 records.
   */
  cost: number;
  /** Keys of one `orderBy`. Default 4. */
  orderBy: number;
  /** Records that a to-many include may take for each parent. Default 100. */
  take: number;
  /** Records that a to-many include takes for each parent when it says nothing. Default 20. */
  defaultTake: number;
  /** Related records that one request may ask for, over all parents. Default 20,000. */
  records: number;
  /** Records of a list that includes relations to many, each of which is a query of its own. Default 100. */
  parents: number;
  /** Records of a find list. Default 1000. */
  findLimit: number;
  /** Largest `pageSize`. Default 100 (spec.md: Limits). */
  pageSize: number;
  /** Largest `page`. Default: the largest whose first record a database can skip to. */
  page: number;
}

/** The largest number of records that both databases can skip: a signed 32 bit integer. */
export const maxSkip = 2_147_483_647;

/** The bounds that hold unless a list policy says otherwise. */
export const defaultQueryLimits: Readonly<QueryLimits> = Object.freeze({
  json: 8192,
  nesting: 24,
  keys: 100,
  in: 100,
  string: 500,
  depth: 3,
  relations: 5,
  manyRelations: 3,
  searches: 5,
  searchText: 100,
  cost: 1500,
  orderBy: 4,
  take: 100,
  defaultTake: 20,
  records: 20_000,
  parents: 100,
  findLimit: 1000,
  pageSize: 100,
  page: maxSkip,
});
