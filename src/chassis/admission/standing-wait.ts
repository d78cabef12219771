/** A queue of the service that requests wait in. */
export interface WaitSource {
  /** How long a request that comes now waits in it, in milliseconds. */
  at(now: number): number;
}

/** Bursts that are over within this share of the target, and within this time at least, are not overload. */
const patience = 0.5;
const leastIntervalMs = 100;
/** After a pause of this length what was seen is of another time. */
const quietMs = 1000;
/** Overload is over when the shortest wait has fallen to this share of the target. */
const over = 0.25;

/**
 * How long admitted work waits, and whether that is overload: a queue that stands. Every queue is long for a moment, after a
 * burst or a pause of the process; one that stands is never short. So what counts is the shortest wait of an interval, as in
 * CoDel (RFC 8289): overload begins when that is above the target. A service that is busy without a queue is not overloaded.
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

  constructor(sources: readonly WaitSource[], targetMs: number) {
    this.#sources = sources;
    this.targetMs = targetMs;
    this.#intervalMs = Math.max(leastIntervalMs, targetMs * patience);
  }

  /** What a request that comes now waits, in milliseconds, as of the last look. */
  get currentMs(): number {
    return this.#currentMs;
  }

  /** The shortest wait of the last interval: what a request is sure to wait. */
  get standingMs(): number {
    return this.#standingMs;
  }

  /** Whether work has been waiting for longer than the target. */
  get overloaded(): boolean {
    return this.#overloaded;
  }

  /** The same, or 0 where nobody has come for so long that it says nothing any more. */
  asOf(now: number): number {
    return now - this.#lookedAt > quietMs ? 0 : this.#currentMs;
  }

  /** Looks at the queues; to be called when a request comes. */
  look(now: number): void {
    let wait = 0;
    for (const source of this.#sources) wait += source.at(now);
    this.#currentMs = wait;
    this.#lookedAt = now;
    this.#shortestMs = Math.min(this.#shortestMs, wait);
    if (now - this.#since >= this.#intervalMs) this.#conclude(now);
  }

  #conclude(now: number): void {
    const forgotten = now - this.#since > quietMs;
    this.#standingMs = forgotten ? 0 : this.#shortestMs;
    this.#overloaded = this.#standingMs > (this.#overloaded ? this.targetMs * over : this.targetMs);
    this.#since = now;
    this.#shortestMs = Number.POSITIVE_INFINITY;
  }
}
