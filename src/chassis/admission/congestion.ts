import type { PoolCounts } from '../telemetry/metrics/database-metrics.ts';

const saturated = 0.95;

/**
 * Tells whether work waited since it was last asked: for the event loop, which had no time left, or for a connection of
 * the database, for which more wait than there are. Both are what requests queue for, so no latency has to be guessed
 * from: a slow route beside a fast one, or a slow service behind one route, does not look like overload.
 */
export function congestionOf(pool: () => PoolCounts | undefined): () => boolean {
  let before = performance.eventLoopUtilization();
  return function isCongested() {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > saturated) return true;
    const connections = pool();
    return connections !== undefined && connections.waitingCount > connections.totalCount;
  };
}
