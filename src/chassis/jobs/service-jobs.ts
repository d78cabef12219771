import { randomUUID } from 'node:crypto';
import { runOutsideRequest } from '../context/request-context.ts';
import { JobBacklog } from './job-backlog.ts';
import type { JobPlan } from './job-plan.ts';
import { slotId } from './job-schedule.ts';
import type { JobStore } from './job-store.ts';
import { JobTimers, waitUntil } from './job-timers.ts';
import { JobWorkers } from './job-workers.ts';
import { type JobWitnesses, runJob } from './run-job.ts';

/** What the jobs of a service are made of. */
export interface ServiceJobsOptions {
  readonly plans: readonly JobPlan[];
  /** Undefined in a service without a database, whose jobs all run in each replica. */
  readonly store: JobStore | undefined;
  readonly witnesses: JobWitnesses;
  readonly settings: {
    JOBS_ENABLED: boolean;
    JOBS_CONCURRENCY: number;
    JOBS_POLL_MS: number;
    JOBS_LEASE_SECONDS: number;
  };
  /** Aborted when the service shuts down. */
  readonly shutdown: AbortSignal;
}

/** When jobs that waited for the start are looked for, at the latest: requests that waited for it come first. */
const firstLookMs = 500;

/** Runs the jobs of a service in this replica, or with `JOBS_ENABLED` false only stores what is due for those that do. */
export class ServiceJobs {
  readonly #options: ServiceJobsOptions;
  readonly #workers: JobWorkers | undefined;
  readonly #backlog: JobBacklog | undefined;
  readonly #timers: JobTimers;
  /** Those that each replica runs by itself. */
  readonly #own = new Map<JobPlan, Promise<unknown>>();

  constructor(options: ServiceJobsOptions) {
    const { plans, store, witnesses, settings, shutdown } = options;
    this.#options = options;
    this.#timers = new JobTimers((plan, due) =>
      plan.replicas === 'each' ? this.#runHere(plan, due) : this.#storeRun(plan, due),
    );
    for (const { name } of plans) witnesses.metrics.declare(name);
    if (!store) return;
    const stored = plans.filter(({ replicas }) => replicas === 'one');
    const { logger, metrics } = witnesses;
    this.#backlog = new JobBacklog({ store, queues: stored.map(({ name }) => name), metrics, logger, shutdown });
    if (!settings.JOBS_ENABLED) return;
    this.#workers = new JobWorkers({
      store,
      plans: stored,
      witnesses,
      concurrency: settings.JOBS_CONCURRENCY,
      pollMs: settings.JOBS_POLL_MS,
      leaseSeconds: settings.JOBS_LEASE_SECONDS,
      shutdown,
    });
  }

  /** Begins to run jobs, and to watch those that wait. */
  start(): void {
    const { plans, settings, shutdown } = this.#options;
    if (shutdown.aborted) return;
    shutdown.addEventListener('abort', () => this.#timers.stop(), { once: true });
    const own = plans.filter(({ replicas }) => replicas === 'one' || settings.JOBS_ENABLED);
    this.#timers.start(own.filter(({ schedule }) => schedule !== undefined));
    const firstLook = setTimeout(
      () => {
        this.#backlog?.start();
        this.#workers?.start();
      },
      Math.min(settings.JOBS_POLL_MS, firstLookMs),
    );
    shutdown.addEventListener('abort', () => clearTimeout(firstLook), { once: true });
  }

  /** Looks for stored jobs now. */
  readonly wake = (): void => this.#workers?.wake();

  /** Waits for what runs, for `ms` at most; to be called once `shutdown` is aborted. Says how many were left behind. */
  async drained(ms: number): Promise<number> {
    const deadline = performance.now() + ms;
    const left = (await this.#workers?.drained(ms)) ?? 0;
    await this.#backlog?.ended();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
    await Promise.race([Promise.all(this.#own.values()), late]);
    clearTimeout(timer);
    return left + this.#own.size;
  }

  async #runHere(plan: JobPlan, due: number): Promise<void> {
    // One that is still under way is not overtaken.
    if (this.#own.has(plan)) return;
    const dueAt = new Date(due + Math.random() * plan.jitterMs);
    const { shutdown, witnesses } = this.#options;
    const run = async () => {
      await waitUntil(dueAt.getTime(), shutdown);
      if (shutdown.aborted) return;
      const job = { id: randomUUID(), queue: plan.name, attempt: 1, dueAt, data: { payload: undefined } };
      await runJob(plan, job, witnesses, shutdown);
    };
    const running = runOutsideRequest(run).finally(() => this.#own.delete(plan));
    this.#own.set(plan, running);
    await running;
  }

  /** All replicas do it, and the run is stored once. */
  async #storeRun({ name, jitterMs }: JobPlan, due: number): Promise<void> {
    const runAt = new Date(due + Math.random() * jitterMs);
    try {
      await this.#options.store?.store(name, [{ id: slotId(name, due), data: { payload: null }, runAt }]);
      if (runAt.getTime() <= Date.now()) this.wake();
    } catch (err) {
      const { logger, metrics } = this.#options.witnesses;
      metrics.waits(name, due);
      logger.warn({ err, job: name }, 'due job not stored');
    }
  }
}
