/** Failures that are told of at once; more of them say nothing new. */
const mostTold = 10;

/**
 * Does the same for each record, one after the other. One that fails keeps none of the others from its turn: a job that goes
 * through the records of all tenants would otherwise stop for everybody at what one of them stored.
 *
 * @throws AggregateError at the end, with the first ten failures
 */
export async function eachByItself<T>(records: AsyncIterable<T>, work: (record: T) => Promise<unknown>): Promise<void> {
  const told: unknown[] = [];
  let failed = 0;
  for await (const record of records) {
    try {
      await work(record);
    } catch (error) {
      failed += 1;
      if (told.length < mostTold) told.push(error);
    }
  }
  if (failed > 0) throw new AggregateError(told, `${failed} records failed`, { cause: told[0] });
}
