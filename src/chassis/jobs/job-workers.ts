import { setTimeout as wait } from 'node:timers/promises';
import { runOutsideRequest } from '../context/request-context.ts';
import type { JobPlan } from './job-plan.ts';
import type { JobStore, TakenJob } from './job-store.ts';
import { type JobWitnesses, type RunResult, runJob } from './run-job.ts';

/** What the workers of a replica are made of. */
export interface JobWorkersOptions {
  readonly store: JobStore;
  readonly plans: readonly JobPlan[];
  readonly witnesses: JobWitnesses;
  /** Runs at once. */
  readonly concurrency: number;
  /** How often queues are asked, in milliseconds. */
  readonly pollMs: number;
  readonly leaseSeconds: number;
  /** Aborted when the service shuts down. */
  readonly shutdown: AbortSignal;
}

/** How often it is tried to note the end of a run, and the pause before the second time, in milliseconds. */
const settling = { attempts: 6, pauseMs: 200 };

/** Takes stored jobs and runs them, as many at once as there are places. */
export class JobWorkers {
  readonly #options: JobWorkersOptions;
  readonly #running = new Map<Promise<void>, TakenJob>();
  #poll: NodeJS.Timeout | undefined;
  #upkeep: NodeJS.Timeout | undefined;
  #taking: Promise<void> | undefined;
  #wanted = false;
  #isFailing = false;
  #first = 0;

  constructor(options: JobWorkersOptions) {
    this.#options = options;
  }

  /** Begins to take jobs. */
  start(): void {
    const { pollMs, leaseSeconds, shutdown } = this.#options;
    const lookAfterMs = (leaseSeconds * 1000) / 3;
    runOutsideRequest(() => {
      this.#poll = setInterval(() => this.wake(), pollMs);
      this.#upkeep = setInterval(() => void this.#lookAfter(), lookAfterMs);
      shutdown.addEventListener('abort', () => clearInterval(this.#poll), { once: true });
      void this.#lookAfter();
      this.wake();
    });
  }

  /** Looks for jobs now; called after storing one. */
  wake(): void {
    this.#wanted = true;
    if (this.#taking || this.#options.shutdown.aborted) return;
    this.#taking = runOutsideRequest(() => this.#takeAll()).finally(() => {
      this.#taking = undefined;
    });
  }

  /** Resolves once nothing runs any more, or after `ms`; says how many were left behind. */
  async drained(ms: number): Promise<number> {
    const everything = async () => {
      await this.#taking;
      while (this.#running.size > 0) await Promise.all(this.#running.keys());
    };
    const timer = new AbortController();
    await Promise.race([everything(), wait(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    clearInterval(this.#upkeep);
    return this.#running.size;
  }

  async #takeAll(): Promise<void> {
    while (this.#wanted && !this.#options.shutdown.aborted) {
      this.#wanted = false;
      try {
        await this.#takeOnce();
        if (this.#isFailing) this.#options.witnesses.logger.info('job polling recovered');
        this.#isFailing = false;
      } catch (err) {
        if (!this.#isFailing) this.#options.witnesses.logger.warn({ err }, 'job polling failed');
        this.#isFailing = true;
        return;
      }
    }
  }

  /** Asks each queue once, by turns from another one on, so that no full queue keeps the places from others. */
  async #takeOnce(): Promise<void> {
    const { plans, store, shutdown } = this.#options;
    this.#first = (this.#first + 1) % Math.max(1, plans.length);
    for (const plan of [...plans.slice(this.#first), ...plans.slice(0, this.#first)]) {
      const places = this.#placesFor(plan);
      if (places <= 0 || shutdown.aborted) continue;
      for (const job of await store.take(plan.name, places)) this.#begin(plan, job);
    }
  }

  #placesFor({ name, concurrency }: JobPlan): number {
    const free = this.#options.concurrency - this.#running.size;
    if (concurrency === undefined) return free;
    const own = [...this.#running.values()].filter(({ queue }) => queue === name).length;
    return Math.min(free, concurrency - own);
  }

  #begin(plan: JobPlan, job: TakenJob): void {
    const { witnesses, shutdown } = this.#options;
    const run = async () => {
      const result = await runJob(plan, job, witnesses, shutdown);
      await this.#settle(job, result);
    };
    const running = run().finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.set(running, job);
  }

  /** A run whose end cannot be noted is run again, which is why effects are to be stored under the job's id. */
  async #settle(job: TakenJob, { outcome, reason = '' }: RunResult): Promise<void> {
    const { store, witnesses } = this.#options;
    for (let tried = 1; ; tried += 1) {
      try {
        return await (outcome === 'completed' ? store.complete(job) : store.fail(job, reason.slice(0, 1000)));
      } catch (err) {
        const line = { err, job: job.queue, jobId: job.id };
        if (tried === settling.attempts) return witnesses.logger.error(line, 'job outcome not recorded');
        await wait(settling.pauseMs * 2 ** (tried - 1));
      }
    }
  }

  /** Keeps what runs here, and finds what ran in replicas that are gone. */
  async #lookAfter(): Promise<void> {
    const { store, witnesses } = this.#options;
    try {
      if (this.#running.size > 0) await store.extend([...this.#running.values()]);
      await store.recover();
    } catch (err) {
      witnesses.logger.warn({ err }, 'job maintenance failed');
    }
  }
}
