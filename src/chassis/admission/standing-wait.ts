import type { RequestContext } from '../context/request-context.ts';

/** A queue of the service that requests wait in. */
export interface WaitSource {
  /** How long a request that comes now waits in it, in milliseconds. */
  at(now: number): number;
  /** The same for one of this client, by its address, which has turns with others; by default there is no difference. */
  ofClient?(client: string): number;
}

/** Bursts that are over within this share of the target, and within this time at least, are not overload. */
const patience = 0.5;
const leastIntervalMs = 100;
/** After a pause of this length what was seen is of another time. */
const quietMs = 1000;
/** Overload is over when the shortest wait has fallen to this share of the target. */
const over = 0.25;
/** The service has warmed up after this many requests, or when a queue has persisted for this long. */
const warmingRequests = 1000;
const warmingMs = 2000;

/**
 * How long admitted work waits, and whether that is overload: a queue that stands. Every queue is long for a moment, after a
 * burst or a pause of the process; one that stands is never short. So what counts is the shortest wait of an interval, as in
 * CoDel (RFC 8289): overload begins when that is above the target. A service that is busy without a queue is not overloaded.
 *
 * The first requests of a process find code that was never run and no connection open, so they wait for longer than any
 * later ones and say nothing of what the service can do: a thousand of them are no overload, unless they stand for two seconds.
 */
export class StandingWait {
  readonly targetMs: number;
  readonly #intervalMs: number;
  readonly #sources: readonly WaitSource[];
  #since = Number.NEGATIVE_INFINITY;
  #shortestMs = Number.POSITIVE_INFINITY;
  #currentMs = 0;
  #standingMs = 0;
  #overloaded = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #requests = 0;
  #stoodMs = 0;

  constructor(sources: readonly WaitSource[], targetMs: number) {
    this.#sources = sources;
    this.targetMs = targetMs;
    this.#intervalMs = Math.max(leastIntervalMs, targetMs * patience);
  }

  /** What a request that comes now waits, in milliseconds, as of the last look. */
  get currentMs(): number {
    return this.#currentMs;
  }

  /** What a request of this client waits that comes now, in milliseconds. */
  clientMs(client: string, now: number): number {
    let wait = 0;
    for (const source of this.#sources) wait += source.ofClient?.(client) ?? source.at(now);
    return wait;
  }

  /** The shortest wait of the last interval: what a request is sure to wait. 0 while the service warms up. */
  get standingMs(): number {
    return this.#standingMs;
  }

  /** Whether work has been waiting for longer than the target. */
  get overloaded(): boolean {
    return this.#overloaded;
  }

  /** The same, or 0 where the last request came too long ago for it to mean anything. */
  asOf(now: number): number {
    return now - this.#lookedAt > quietMs ? 0 : this.#currentMs;
  }

  /** Looks at the queues; to be called when a request comes. */
  look(now: number): void {
    let wait = 0;
    for (const source of this.#sources) wait += source.at(now);
    this.#currentMs = wait;
    this.#lookedAt = now;
    this.#requests += 1;
    this.#shortestMs = Math.min(this.#shortestMs, wait);
    if (now - this.#since >= this.#intervalMs) this.#conclude(now);
  }

  #conclude(now: number): void {
    const passedMs = now - this.#since;
    const forgotten = passedMs > quietMs;
    this.#standingMs = forgotten || !this.#isWarm(passedMs) ? 0 : this.#shortestMs;
    this.#overloaded = this.#standingMs > (this.#overloaded ? this.targetMs * over : this.targetMs);
    this.#since = now;
    this.#shortestMs = Number.POSITIVE_INFINITY;
  }

  #isWarm(passedMs: number): boolean {
    if (this.#requests > warmingRequests || this.#stoodMs >= warmingMs) return true;
    const stands = this.#shortestMs > this.targetMs && passedMs <= quietMs;
    this.#stoodMs = stands ? this.#stoodMs + passedMs : 0;
    return this.#stoodMs >= warmingMs;
  }
}

/** Less idle time than this is what the loop takes to ask for events. */
const idleMs = 1;

/**
 * How long a request waits for the event loop: as long as one turn takes, because what comes in now is looked at when the
 * turn under way has ended. Costs one immediate for each turn that brings requests, and nothing while none come.
 */
export class LoopWait implements WaitSource {
  #lastMs = 0;
  #beganAt = 0;
  #endedAt = 0;
  #endedTurn = 0;
  #endedIdleMs = 0;
  #underWay = false;

  /** Milliseconds of the last turn, or of the one under way once it is longer; to be asked when a request comes. */
  at(now: number): number {
    if (!this.#underWay) this.#begin(now);
    return Math.max(this.#lastMs, now - this.#beganAt);
  }

  /** When the turn under way began, by `performance.now()`, once `at` was asked in it. */
  get beganAt(): number {
    return this.#beganAt;
  }

  #begin(now: number): void {
    this.#underWay = true;
    setImmediate(this.#end);
    const idle = performance.nodeTiming.idleTime - this.#endedIdleMs;
    const turns = Math.max(1, turnNumber() - this.#endedTurn);
    // Of turns that brought no request only the mean is known. One that ended before a rest let nobody wait.
    if (turns > 1 || idle > idleMs) this.#lastMs = 0;
    this.#beganAt = now - Math.max(0, now - this.#endedAt - idle) / turns;
  }

  readonly #end = () => {
    this.#underWay = false;
    this.#endedAt = performance.now();
    this.#endedTurn = turnNumber();
    this.#endedIdleMs = performance.nodeTiming.idleTime;
    this.#lastMs = this.#endedAt - this.#beganAt;
  };
}

function turnNumber(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}

/** What is known of those who use a database: requests, each of which has one query or many, and all their queries. */
export interface DatabaseQueue {
  /** Requests that wait for their turn now. */
  readonly waiting: number;
  /** Requests whose turn came, ever. */
  readonly served: number;
  /** Queries that wait for their turn now. */
  readonly waitingQueries: number;
  /** Those of all that wait only for queries of their own client, or for other costly ones. */
  readonly heldBackQueries: number;
  /** Queries that wait for their turn now, of requests that end once they had their turns, at most two of each. */
  readonly ordinaryQueries: number;
  /** Queries of such requests that are held back, all of each. */
  readonly ordinaryHeldBackQueries: number;
  /** Queries whose turn came, ever. */
  readonly servedQueries: number;
  /** Queries that may run at once. */
  readonly places: number;
  /** How long queries of a request wait for others of its own caller or for other costly ones, in milliseconds. */
  heldBackMs(context: RequestContext, now: number): number;
  /** How long a query that comes from an address now waits for its turn, in milliseconds. */
  clientMs(address: string): number;
  /** Has `listener` hear what requests of a client had of the database for sure, in milliseconds. */
  onUse(listener: (client: string, ms: number) => void): void;
}

const intervalMs = 100;
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

  /** How long it takes to serve so many further requests; 0 while nothing is known. */
  msFor(requests: number): number {
    return this.#requests.msFor(requests);
  }

  /** Turns are lent fairly, so a client does not wait for all that others have asked for. */
  ofClient(client: string): number {
    return ordinaryTurns * this.#queue.clientMs(client);
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
export class ServingRate {
  #before = 0;
  #perMs: number | undefined;

  get isKnown(): boolean {
    return this.#perMs !== undefined;
  }

  /** How long it takes to serve this many requests; 0 while nothing is known. */
  msFor(count: number): number {
    return count === 0 || this.#perMs === undefined ? 0 : count / this.#perMs;
  }

  /** That none was served in the first of these times is no sign that none ever will be, so one counts. */
  learn(total: number, passedMs: number, busy: boolean): void {
    const least = this.#perMs === undefined ? 1 : 0;
    const perMs = Math.max(total - this.#before, least) / passedMs;
    this.#before = total;
    if (busy) this.#perMs = this.#perMs === undefined ? perMs : (this.#perMs + perMs) / 2;
  }

  forget(total: number): void {
    this.#before = total;
    this.#perMs = undefined;
  }
}
