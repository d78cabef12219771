/** What is known of those who use a database: requests, each of which has one query or many, and all their queries. */
export interface DatabaseQueue {
  /** Requests that wait for their turn now. */
  readonly waiting: number;
  /** Requests whose turn came, ever. */
  readonly served: number;
  /** Queries that wait for their turn now. */
  readonly waitingQueries: number;
  /** Queries among them that wait for others of their own client, and keep nobody else waiting. */
  readonly heldBackQueries: number;
  /** Queries whose turn came, ever. */
  readonly servedQueries: number;
  /** How long queries of a caller have waited for others of its own, in milliseconds. */
  heldBackMs(caller: string, now: number): number;
}

const intervalMs = 100;
/** After a pause of this length what was learnt is of another time. */
const quietMs = 1000;
/** An ordinary request asks twice, one after the other: for records, and for what belongs to them. */
const ordinaryTurns = 2;

/**
 * How long a request waits for the database, all its queries together: as long as it takes to serve the requests before it,
 * at the rate at which requests were served while others waited. Where some have very many queries, an ordinary request
 * overtakes them: it waits no longer than two of its queries do. Nothing is known, and 0 is said, until others waited for a
 * tenth of a second.
 */
export class DatabaseWait {
  readonly #queue: DatabaseQueue;
  readonly #requests = new ServingRate();
  readonly #queries = new ServingRate();
  #since = Number.NEGATIVE_INFINITY;
  #fewestWaiting = 0;

  constructor(queue: DatabaseQueue) {
    this.#queue = queue;
  }

  /** Milliseconds, as of now; to be asked when a request comes. */
  at(now: number): number {
    const queue = this.#queue;
    const queries = queue.waitingQueries - queue.heldBackQueries;
    this.#fewestWaiting = Math.min(this.#fewestWaiting, queries);
    if (now - this.#since >= intervalMs) this.#learn(now, queue);
    return Math.min(this.#requests.msFor(queue.waiting), ordinaryTurns * this.#queries.msFor(queries));
  }

  /** While somebody waited all the time, the database served as many as it can. */
  #learn(now: number, { served, waitingQueries, heldBackQueries, servedQueries }: DatabaseQueue): void {
    const passedMs = now - this.#since;
    const busy = this.#fewestWaiting > 0;
    for (const [rate, total] of [
      [this.#requests, served],
      [this.#queries, servedQueries],
    ] as const) {
      if (passedMs > quietMs) rate.forget(total);
      else rate.learn(total, passedMs, busy);
    }
    this.#since = now;
    this.#fewestWaiting = waitingQueries - heldBackQueries;
  }
}

/** How many are served in a millisecond, while others wait. */
class ServingRate {
  #before = 0;
  #perMs: number | undefined;

  /** How long it takes to serve so many; 0 while nothing is known. */
  msFor(count: number): number {
    return count === 0 || this.#perMs === undefined ? 0 : count / this.#perMs;
  }

  learn(total: number, passedMs: number, busy: boolean): void {
    const perMs = (total - this.#before) / passedMs;
    this.#before = total;
    if (busy) this.#perMs = this.#perMs === undefined ? perMs : (this.#perMs + perMs) / 2;
  }

  forget(total: number): void {
    this.#before = total;
    this.#perMs = undefined;
  }
}
