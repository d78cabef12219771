import { getRequestContext } from '../context/request-context.ts';
import type { Filter, FindQuery, Selection } from '../query/query-types.ts';
import { ReadTooLongException } from './client/read-room.ts';
import { StoredRecords } from './reads/coalesce.ts';

/** Without `batchSize` the first batch has so many records, and each further one twice as many as that before, up to the most. */
const firstBatch = 200;
const mostOfBatch = 800;
/** How long the text of a batch is to be, in characters: it is held until the client of a stream has taken all of it. */
const charsOfBatch = 250_000;

/** What is read one batch after the other. */
export interface EachRecordOptions {
  /** Default: all. */
  where?: Filter;
  /** What is read of each record beside its `id`. Default: nothing. */
  select?: Selection;
  /** How many are read at once. Default: 200, then more where they are short, up to 800. */
  batchSize?: number;
  /** Ends it behind the record at hand: that of a job, at its time limit and where the service stops. */
  signal?: AbortSignal;
}

/** Records as the ORM makes them, or as the texts that the database made. */
type Batch<Row extends object> = readonly Row[] | StoredRecords<Row>;

/** Reads records of a model that has an `id`. */
type ReadBatch<Row extends object> = (query: FindQuery) => Promise<Batch<Row>>;

/** All records that match, see `each` of a repository. */
export async function* eachRecord<Row extends object>(
  read: ReadBatch<Row>,
  { where, select = {}, batchSize, signal }: EachRecordOptions = {},
): AsyncGenerator<Row, void, undefined> {
  const size = batchSize ?? firstBatch;
  let take = size;
  let last: unknown;
  const readNext = () => {
    const conditions = [...(where ? [where] : []), ...(last === undefined ? [] : [{ id: { gt: last } }])];
    return read({
      // A repository knows its own.
      model: '',
      ...(conditions.length > 0 && { where: { AND: conditions } as Filter }),
      select: { ...select, id: true },
      orderBy: [{ id: 'asc' }],
      take,
    });
  };
  for (;;) {
    const batch = await readNext().catch((error) => {
      // These records are longer than those before.
      if (take <= size || !(error instanceof ReadTooLongException)) throw error;
      take = size;
      return readNext();
    });
    for (let index = 0; index < batch.length; index += 1) {
      if (signal?.aborted) return;
      const record = batch instanceof StoredRecords ? batch.at(index) : (batch[index] as Row);
      last = (record as { id?: unknown }).id;
      yield record;
    }
    if (batch.length < take) return;
    if (batchSize === undefined) take = takeAfter(batch);
  }
}

/** Each batch waits for its turn at the database, so that few long ones are sooner there than many short ones. */
function takeAfter(batch: Batch<object>): number {
  // Nobody knows how long the records are that follow, and a slow client has them held.
  if (!(batch instanceof StoredRecords) || getRequestContext()?.hasManyStreams) return firstBatch;
  const enough = Math.floor((charsOfBatch * batch.length) / batch.chars);
  return Math.max(firstBatch, Math.min(2 * batch.length, mostOfBatch, enough));
}
