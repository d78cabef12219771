/** What is known of the requests that use a database. */
export interface DatabaseQueue {
  /** Requests that wait for their turn now. */
  readonly waiting: number;
  /** Requests whose turn came, ever. */
  readonly served: number;
}

const intervalMs = 100;
/** After a pause of this length what was learnt is of another time. */
const quietMs = 1000;

/**
 * How long a request waits for the database, all its queries together: as long as it takes to serve those before it, at the
 * rate at which requests were served while others waited. Nothing is known, and 0 is said, until that was so for a tenth of
 * a second.
 */
export class DatabaseWait {
  readonly #queue: () => DatabaseQueue | undefined;
  #since = Number.NEGATIVE_INFINITY;
  #servedBefore = 0;
  #fewestWaiting = 0;
  #perMs: number | undefined;

  /** @param queue the service's; undefined where it has no database */
  constructor(queue: () => DatabaseQueue | undefined) {
    this.#queue = queue;
  }

  /** Milliseconds, as of now; to be asked when a request comes. */
  at(now: number): number {
    const queue = this.#queue();
    if (queue === undefined) return 0;
    const { waiting, served } = queue;
    this.#fewestWaiting = Math.min(this.#fewestWaiting, waiting);
    if (now - this.#since >= intervalMs) this.#learn(now, waiting, served);
    if (waiting === 0 || this.#perMs === undefined) return 0;
    return waiting / this.#perMs;
  }

  /** While somebody waited all the time, the database served as many as it can. */
  #learn(now: number, waiting: number, served: number): void {
    const passed = now - this.#since;
    if (passed > quietMs) this.#perMs = undefined;
    else if (this.#fewestWaiting > 0) {
      const perMs = (served - this.#servedBefore) / passed;
      this.#perMs = this.#perMs === undefined ? perMs : (this.#perMs + perMs) / 2;
    }
    this.#since = now;
    this.#servedBefore = served;
    this.#fewestWaiting = waiting;
  }
}
