import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ErrorReports } from '../../../src/chassis/errors/reporters/error-reports.ts';
import type { JobPlan } from '../../../src/chassis/jobs/job-plan.ts';
import { ServiceJobs } from '../../../src/chassis/jobs/service-jobs.ts';
import { JobMetrics } from '../../../src/chassis/telemetry/metrics/job-metrics.ts';
import { SeriesLimit } from '../../../src/chassis/telemetry/metrics/metric-family.ts';
import { propagateJobTrace } from '../../../src/chassis/telemetry/tracing/trace-context.ts';
import { recordingLogger } from '../../support/log-lines.ts';

/** Runs jobs that each replica does, until the end of the test. */
function running(...plans: object[]): { jobs: ServiceJobs; shutdown: AbortController } {
  const shutdown = new AbortController();
  const { logger } = recordingLogger();
  const each = { replicas: 'each', timeLimitMs: 60_000, attempts: 1, schedule: { next: (after: number) => after + 1 } };
  const jobs = new ServiceJobs({
    plans: plans.map((plan) => ({ ...each, ...plan }) as unknown as JobPlan),
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
  onTestFinished(() => shutdown.abort());
  jobs.start();
  return { jobs, shutdown };
}

/** Work that is done this often, and a promise of that. */
function counted(times: number) {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  const work = () => {
    runs += 1;
    if (runs === times) resolve();
  };
  return { work, enough };
}

it('keeps nothing of the runs of a job that each replica does', async () => {
  const { work, enough } = counted(20);
  const { jobs, shutdown } = running({ name: 'tick', jitterMs: 1, work });
  await enough;
  // That of the clock, and that of a run which waits.
  expect(getEventListeners(shutdown.signal, 'abort').length).toBeLessThanOrEqual(2);
  shutdown.abort();
  expect(await jobs.drained(10_000)).toBe(0);
});

it('waits for a run whose jitter is longer than a timer of Node can wait', async () => {
  const { work, enough } = counted(20);
  const early = vi.fn();
  const thousandYears = 3.2e13;
  const { jobs, shutdown } = running(
    { name: 'late', jitterMs: thousandYears, work: early },
    { name: 'tick', jitterMs: 0, work },
  );
  await enough;
  expect(early).not.toHaveBeenCalled();
  shutdown.abort();
  expect(await jobs.drained(10_000)).toBe(0);
});
