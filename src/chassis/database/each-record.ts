import type { Filter, FindQuery, Selection } from '../query/query-types.ts';

/** What is read one batch after the other. */
export interface EachRecordOptions {
  /** Default: all. */
  where?: Filter;
  /** What is read of each record beside its `id`. Default: nothing. */
  select?: Selection;
  /** How many are read at once. Default 200. */
  batchSize?: number;
  /** Ends it behind the record at hand: that of a job, at its time limit and where the service stops. */
  signal?: AbortSignal;
}

/** Where records come from: a repository whose model has an `id`. */
interface Source<Row> {
  findMany(query: FindQuery): Promise<Row[]>;
}

/** All records that match, see `each` of a repository. */
export async function* eachRecord<Row extends object>(
  repository: Source<Row>,
  { where, select = {}, batchSize = 200, signal }: EachRecordOptions = {},
): AsyncGenerator<Row, void, undefined> {
  let last: unknown;
  for (;;) {
    const behind = last === undefined ? [] : [{ id: { gt: last } }];
    const conditions = [...(where ? [where] : []), ...behind];
    const records = await repository.findMany({
      // A repository knows its own.
      model: '',
      ...(conditions.length > 0 && { where: { AND: conditions } as Filter }),
      select: { ...select, id: true },
      orderBy: [{ id: 'asc' }],
      take: batchSize,
    });
    for (const record of records) {
      if (signal?.aborted) return;
      yield record;
    }
    if (records.length < batchSize) return;
    last = (records.at(-1) as { id?: unknown }).id;
  }
}
