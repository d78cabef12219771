import type { Filter } from '../../query/query-types.ts';
import type { Delegate } from '../models/delegate-of.ts';

/** How many rows one statement removes, so that none holds the database for long. */
const batch = 1000;

/**
 * Removes the rows that match, a thousand with each statement; for jobs that keep what is young enough. Rows that refer to
 * them go by `onDelete` of their relation; neither a trail nor a soft deletion is left.
 *
 * @param signal ends it between two statements: that of a job, at its time limit and where the service stops
 * @returns how many it removed
 */
export async function removeInBatches(rows: Delegate, where: Filter, signal: AbortSignal): Promise<number> {
  for (let removed = 0; ; ) {
    if (signal.aborted) return removed;
    const { count } = await rows.deleteMany({ where, limit: batch });
    removed += count;
    if (count < batch) return removed;
  }
}
