import { runOutsideRequest } from '../context/request-context.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { JobMetrics } from '../telemetry/metrics/job-metrics.ts';
import type { JobStore } from './job-store.ts';

/** What is watched, and who is told. */
export interface JobBacklogOptions {
  readonly store: JobStore;
  readonly queues: readonly string[];
  readonly metrics: JobMetrics;
  readonly logger: Logger;
  /** Aborted when the service shuts down. */
  readonly shutdown: AbortSignal;
}

/** How often the store is asked, in milliseconds: one small read in each replica. */
const lookEveryMs = 10_000;

/**
 * Measures how long due jobs wait in the store, in every replica, whether it runs jobs or not: a job that never begins is
 * in no other number.
 */
export class JobBacklog {
  readonly #options: JobBacklogOptions;
  #looking: Promise<void> | undefined;

  constructor(options: JobBacklogOptions) {
    this.#options = options;
  }

  /** Begins to watch. */
  start(): void {
    runOutsideRequest(() => {
      const timer = setInterval(() => this.look(), lookEveryMs);
      this.#options.shutdown.addEventListener('abort', () => clearInterval(timer), { once: true });
      this.look();
    });
  }

  /** Asks now, unless that is under way. */
  look(): void {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
  }

  /** Resolves once the store is no longer asked; to be called once `shutdown` is aborted. */
  async ended(): Promise<void> {
    await this.#looking;
  }

  async #ask(): Promise<void> {
    const { store, queues, metrics, logger } = this.#options;
    try {
      const oldest = await store.overdue(queues);
      for (const queue of queues) metrics.waits(queue, oldest.get(queue)?.getTime());
    } catch (err) {
      logger.debug({ err }, 'job backlog not read');
    }
  }
}
