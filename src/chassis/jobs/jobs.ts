import { afterCommit } from '../database/work/after-commit.ts';
import { nearMisses } from '../errors/near-misses.ts';
import { type Duration, durationMs } from './duration.ts';
import { envelopeOf } from './job-envelope.ts';
import type { JobStore } from './job-store.ts';

/** How a job is sent. */
export interface SendOptions {
  /** How long it waits at least. Default: not at all. */
  readonly delay?: Duration;
}

/** What jobs are sent to, once they are loaded. */
export interface OpenJobs {
  readonly store: JobStore;
  /** Names of the queues that jobs can be sent to. */
  readonly queues: readonly string[];
  /** Makes this replica look for jobs. */
  wake(): void;
}

/** The jobs of a service, as its modules send them: `constructor({ jobs }: Pick<Slipway.Cradle, 'jobs'>)`. */
export class Jobs {
  #open: OpenJobs | undefined;

  /** Connects to the store of jobs; for the loader. */
  open(jobs: OpenJobs): void {
    this.#open = jobs;
  }

  /**
   * Stores a job: inside a unit of work together with it or not at all, outside of one at once. It is run at least once,
   * by one of the replicas, also when this one dies.
   *
   * @throws Error for a name that no module declares with `job`, in a service without a database and before its start
   */
  async send<N extends keyof Slipway.Jobs & string>(
    name: N,
    data: Slipway.Jobs[N],
    { delay }: SendOptions = {},
  ): Promise<void> {
    const { store, wake } = this.#queue(name);
    const delayMs = delay === undefined ? undefined : durationMs(delay);
    if (delay !== undefined && delayMs === undefined) {
      throw new Error(`Expected delay to be a whole number and ms, s, m, h or d, such as 30s; found "${delay}".`);
    }
    await store.store(name, [{ data: envelopeOf(data), ...(delayMs && { runAt: new Date(Date.now() + delayMs) }) }]);
    if (!delayMs) afterCommit(wake);
  }

  /**
   * Has the dead jobs of a queue run again, with all their attempts: those that failed as often as they may. Also for
   * handlers of events, as `<event>.<module>`.
   *
   * @returns how many there were
   * @throws Error as `send` does
   */
  async revive(name: string): Promise<number> {
    const { store, wake } = this.#queue(name);
    const count = await store.revive(name);
    wake();
    return count;
  }

  #queue(name: string): OpenJobs {
    if (!this.#open) {
      throw new Error(
        `Expected jobs to be loaded, found none to send ${name} to: declare it in an <x>.jobs.ts, or send after the start.`,
      );
    }
    if (this.#open.queues.includes(name)) return this.#open;
    const near = nearMisses(name, this.#open.queues);
    const hint =
      near.length > 0 ? `is ${near.join(' or ')} meant?` : `declared are ${this.#open.queues.join(', ') || 'none'}`;
    throw new Error(`Expected the name of a job that a module declares, found "${name}": ${hint}`);
  }
}
