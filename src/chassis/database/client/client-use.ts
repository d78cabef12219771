/** Work that waits for a place. */
export interface Waiting {
  readonly since: number;
  readonly start: () => void;
}

/** A client whose weighted mean time exceeds this is slow. */
const slowMs = 50;
const halfLifeMs = 5000;

/** What one client uses of a database, has used of it, and waits for. */
export class ClientUse {
  /** Places that it has now. */
  running = 0;
  /** In the order in which they came. */
  readonly waiting = new Set<Waiting>();
  /** How long it had places, in milliseconds, on a scale that all clients share. */
  used = 0;
  #took = 0;
  #squares = 0;
  #at = 0;

  /**
   * Whether its recent work is short: the mean time, each weighted by itself, so that many short ones do not hide a long
   * one. A client whose first work is under way is slow.
   */
  get isQuick(): boolean {
    return this.#squares < slowMs * this.#took;
  }

  /** Whether any of its work has ended, so that its time is known. */
  get isMeasured(): boolean {
    return this.#took > 0;
  }

  /** Counts work that has ended. */
  ended(tookMs: number, now: number): void {
    const kept = 0.5 ** ((now - this.#at) / halfLifeMs);
    this.used += tookMs;
    this.#took = this.#took * kept + tookMs;
    this.#squares = this.#squares * kept + tookMs * tookMs;
    this.#at = now;
  }
}
