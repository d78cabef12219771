import { DatabaseError, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { currentWaiters, isAbandoned, type Waiter } from '../../context/uninterrupted.ts';
import { cancelQuery, type RunningBackend } from './cancel-query.ts';
import { CountingPool } from './counting-pool.ts';

/** How often reads under way are looked at. */
const lookEveryMs = 250;

const read = /^\s*SELECT\b/i;

/** A read under way that may be cancelled. */
interface RunningRead {
  readonly client: PoolClient;
  readonly waiters: readonly Waiter[];
  /** Whether the server has acted upon the request to cancel it. */
  cancelled?: Promise<boolean>;
}

/**
 * A pool that cancels a read within a second after the last request that waits for it has been abandoned: it would hold
 * its connection until its end. Writes, queries of transactions and what runs in `uninterrupted` are never cancelled. The
 * connection serves others only when it is certain that none of their queries can be hit.
 */
export class CancellingPool extends CountingPool {
  readonly #running = new Set<RunningRead>();
  readonly #lookEveryMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(config: PoolConfig, everyMs = lookEveryMs) {
    super(config);
    this.#lookEveryMs = everyMs;
    Object.assign(this, { query: this.#queryOr(super.query.bind(this) as Query) });
  }

  /** The driver's own method has many forms; only the one that the ORM's adapter uses is taken over. */
  #queryOr(otherwise: Query): Query {
    return (config, ...more) => {
      const waiters = currentWaiters();
      const cancellable = waiters[0] !== undefined && more.length === 0 && isRead(config);
      return cancellable ? this.#read(config, waiters) : otherwise(config, ...more);
    };
  }

  async #read(config: QueryConfig, waiters: readonly Waiter[]): Promise<unknown> {
    const client = await this.connect();
    const running: RunningRead = { client, waiters };
    this.#watch(running);
    let broken: Error | undefined;
    try {
      return await client.query(config);
    } catch (error) {
      if (!(error instanceof DatabaseError)) broken = error as Error;
      throw error;
    } finally {
      this.#running.delete(running);
      const certain = running.cancelled === undefined || (await running.cancelled);
      client.release(broken ?? !certain);
    }
  }

  #watch(running: RunningRead): void {
    this.#running.add(running);
    this.#timer ??= setInterval(() => this.#look(), this.#lookEveryMs).unref();
  }

  #look(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const running of this.#running) {
      if (running.cancelled || !isAbandoned(running.waiters)) continue;
      running.cancelled = cancelQuery(running.client as unknown as RunningBackend);
    }
  }
}

type Query = (config: QueryConfig, ...more: unknown[]) => Promise<unknown>;

function isRead(config: unknown): boolean {
  return typeof config === 'object' && config !== null && 'text' in config && read.test(String(config.text));
}
