import type { MeasuredRun } from '../../../load-tests/run/k6.ts';

/** A run that went well. */
export const measuredRun: MeasuredRun = {
  ...{ scenario: 'list-shallow', resource: '/api/v1/products', records: 1_000, profile: 'load' },
  ...{ height: { rate: 20, seconds: 45 }, started: '2026-01-01T00:00:00.000Z' },
  origin: {
    ...{ machine: '2 cores of a processor, 8 GiB', service: 'the sources', database: 'postgresql, full' },
    ...{ version: '1.1.0', revision: '6aa037d, Node v24.21.0', k6: 'v2.2.0' },
  },
  ...{ seconds: 10, requests: 400, failed: 0, refused: 0, outage: 0, dropped: 0, checksFailed: 0 },
  ...{ median: 4, p95: 10, p99: 20, max: 30, bytes: 4_000, rate: 20, crossed: [], checks: [], thresholds: [] },
  parts: [{ name: 'shallow page', requests: 400, median: 4, p95: 10, p99: 20 }],
  series: [],
};
