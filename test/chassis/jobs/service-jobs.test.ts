import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { ErrorReports } from '../../../src/chassis/errors/reporters/error-reports.ts';
import type { JobPlan } from '../../../src/chassis/jobs/job-plan.ts';
import { ServiceJobs } from '../../../src/chassis/jobs/service-jobs.ts';
import { JobMetrics } from '../../../src/chassis/telemetry/metrics/job-metrics.ts';
import { SeriesLimit } from '../../../src/chassis/telemetry/metrics/metric-family.ts';
import { propagateJobTrace } from '../../../src/chassis/telemetry/tracing/trace-context.ts';
import { recordingLogger } from '../../support/log-lines.ts';

it('keeps nothing of the runs of a job that each replica does', async () => {
  const shutdown = new AbortController();
  const { logger } = recordingLogger();
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  const work = () => {
    runs += 1;
    if (runs === 20) resolve();
  };
  const schedule = { next: (after: number) => after + 1 };
  const plan = { name: 'tick', replicas: 'each', timeLimitMs: 60_000, attempts: 1, jitterMs: 1, schedule, work };
  const jobs = new ServiceJobs({
    plans: [plan as unknown as JobPlan],
    store: undefined,
    witnesses: {
      logger,
      metrics: new JobMetrics(new SeriesLimit(10)),
      errors: new ErrorReports(logger, []),
      tracer: propagateJobTrace,
    },
    settings: { JOBS_ENABLED: true, JOBS_CONCURRENCY: 1, JOBS_POLL_MS: 1000, JOBS_LEASE_SECONDS: 30 },
    shutdown: shutdown.signal,
  });
  jobs.start();
  await enough;
  // That of the clock, and that of a run which waits.
  expect(getEventListeners(shutdown.signal, 'abort').length).toBeLessThanOrEqual(2);
  shutdown.abort();
  expect(await jobs.drained(10_000)).toBe(0);
});
