import { DatabaseUnavailableException } from '../../errors/exceptions.ts';

/** A connection that was lent for a transaction. */
export interface LentConnection {
  /**
   * Ends the statement that it runs; resolves once a cancellation can no longer hit the next statement. A connection whose statement
   * cannot be ended is closed.
   *
   * @param ended resolves when the statement has ended
   */
  stop(ended: Promise<void>): Promise<void>;
}

/** What all units of one transaction share: when it has to be over, and what ends its statement then. */
export class Expiry {
  /** When it is reached, by the clock of `performance.now()`, in milliseconds. */
  readonly at: number;
  /** Rejects at that time. */
  readonly reached: Promise<never>;
  /** Settles with the statement under way; undefined between statements. */
  statement: Promise<void> | undefined;
  /** How many queries and nested units wait for their turn. */
  queued = 0;
  #stopping: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  /** @param timeoutMs from now, in milliseconds */
  constructor(timeoutMs: number, connection: LentConnection | undefined) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.at = performance.now() + timeoutMs;
    this.reached = promise;
    // Nobody listens any more to one that is reached while the unit ends.
    promise.catch(() => undefined);
    const reach = () => {
      this.#stopping = this.statement && connection?.stop(this.statement);
      reject(tookTooLong(this.#hint()));
    };
    this.#timer = setTimeout(reach, timeoutMs);
  }

  /**
   * Waits for the last query of a unit; beyond the time until that query was stopped, where the database has a means to
   * stop one. What runs next on the connection cannot be hit by it.
   */
  async settled(last: Promise<void>): Promise<void> {
    await Promise.race([last, this.reached.catch(() => undefined)]);
    await this.#stopping;
  }

  /** Forgets the time: the work is done. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** For the log: what was wrong with the work where it waited for itself. */
  #hint(): Error | undefined {
    if (this.statement || this.queued === 0) return undefined;
    return new Error(
      `${this.queued} queries or nested units of work waited for a nested one that ran no query. They take turns in the ` +
        'order in which they begin, so none may wait for a later one: await that before it begins, or run both in one unit.',
    );
  }
}

/** The error of a unit of work that reached its time-out. */
export function tookTooLong(cause?: Error): DatabaseUnavailableException {
  return new DatabaseUnavailableException('Database Unavailable: a unit of work took too long', undefined, { cause });
}
