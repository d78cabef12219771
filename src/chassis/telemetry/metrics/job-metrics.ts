import { Histogram, type MetricFamily, type SeriesLimit, SeriesMap } from './metric-family.ts';

/** How a run ended: `dead` is the last attempt that failed, `aborted` a run that ended because the service shut down. */
export type JobOutcome = 'completed' | 'failed' | 'dead' | 'aborted';

const runs = 'job_runs_total';
const secondsBuckets: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1800];

/** Runs of jobs as Prometheus sees them; their label is `name`, because `job` is Prometheus' own. */
export class JobMetrics {
  readonly #runs: SeriesMap<{ value: number }>;
  readonly #seconds: Histogram;
  readonly #lag: Histogram;
  readonly #running = new Map<string, number>();
  readonly #dueSince = new Map<string, number | undefined>();

  constructor(limit: SeriesLimit) {
    this.#runs = new SeriesMap(runs, ['name', 'outcome'], limit, () => ({ value: 0 }));
    const options = { labels: ['name'], buckets: secondsBuckets };
    this.#seconds = new Histogram(
      { name: 'job_run_duration_seconds', help: 'Time that a run of a job took.', ...options },
      limit,
    );
    this.#lag = new Histogram(
      { name: 'job_lag_seconds', help: 'Time from when a job was due until its run began.', ...options },
      limit,
    );
  }

  /** Has a job appear with all its outcomes at 0, so that the first failure is an increase. */
  declare(job: string): void {
    for (const outcome of ['completed', 'failed', 'dead', 'aborted']) this.#runs.of(job, outcome);
    this.#running.set(job, 0);
  }

  /**
   * Notes since when the oldest job of a name has been due and not begun, in milliseconds since 1970; undefined where none
   * waits. Until the next note its wait goes on, so that a database which cannot be asked hides nothing.
   */
  waits(job: string, dueSince: number | undefined): void {
    this.#dueSince.set(job, dueSince);
  }

  /** Counts a run that begins. */
  began(job: string, lagSeconds: number, traceId?: string): void {
    this.#running.set(job, (this.#running.get(job) ?? 0) + 1);
    this.#lag.series.of(job)?.observe(Math.max(0, lagSeconds), traceId);
  }

  /** Counts a run that has ended. */
  ended(job: string, outcome: JobOutcome, seconds: number, traceId?: string): void {
    this.#running.set(job, (this.#running.get(job) ?? 1) - 1);
    const count = this.#runs.of(job, outcome);
    if (count) count.value += 1;
    this.#seconds.series.of(job)?.observe(seconds, traceId);
  }

  get families(): MetricFamily[] {
    return [
      {
        name: runs,
        help: 'Runs of jobs that have ended, by outcome: completed, failed, dead (the last attempt failed), aborted (by a shutdown).',
        type: 'counter',
        samples: () => [...this.#runs].map(([labels, { value }]) => ({ labels, value })),
      },
      {
        name: 'jobs_running',
        help: 'Runs of jobs under way.',
        type: 'gauge',
        samples: () => [...this.#running].map(([job, value]) => ({ labels: `name="${job}"`, value })),
      },
      this.#seconds,
      this.#lag,
      {
        name: 'job_overdue_seconds',
        help: 'How long the oldest stored job that is due has waited to begin, in any replica; 0 where none waits.',
        type: 'gauge',
        samples: () =>
          [...this.#dueSince].map(([job, since]) => ({ labels: `name="${job}"`, value: secondsSince(since) })),
      },
    ];
  }
}

function secondsSince(time: number | undefined): number {
  return time === undefined ? 0 : Math.max(0, Date.now() - time) / 1000;
}
