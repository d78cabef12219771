import { flag, wholeNumber } from './setting-types.ts';

/** How a replica runs jobs; a service without jobs reads none of these. */
export const jobSettings = {
  JOBS_ENABLED: flag(true).describe(
    'Whether this replica runs jobs; with `false` it only stores those that it sends or that the clock makes due',
  ),
  JOBS_CONCURRENCY: wholeNumber(1, 1000, 5).describe(
    'Stored jobs that this replica runs at once; each may need a connection of the pool',
  ),
  JOBS_POLL_MS: wholeNumber(100, 3_600_000, 2000).describe(
    'How often a replica looks for jobs that others stored or that became due, in milliseconds',
  ),
  JOBS_LEASE_SECONDS: wholeNumber(10, 3600, 30).describe(
    'How long after the last sign of life of a replica its jobs are given to others, in seconds',
  ),
};
