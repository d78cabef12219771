/** A body that comes in. */
export interface HeldBody {
  /** What is held of it, in bytes. */
  bytes: number;
  /** Has it give way to others. */
  refuse(): void;
}

/**
 * Bounds what all bodies together hold of memory while they come in. Beyond it the oldest are refused: honest clients
 * finish soon, and a client that keeps many bodies open gives way. What is read only to be thrown away
 * is not held and does not count.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #coming = new Set<HeldBody>();
  #held = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts bytes of a body; those beyond the limit have the oldest refused, perhaps this one. */
  hold(body: HeldBody, bytes: number): void {
    this.#coming.add(body);
    body.bytes += bytes;
    this.#held += bytes;
    if (this.#held > this.#limit) this.#makeRoom();
  }

  /** Ends the count of a body, once it is there or given up. */
  release(body: HeldBody): void {
    if (this.#coming.delete(body)) this.#held -= body.bytes;
  }

  #makeRoom(): void {
    for (const body of this.#coming) {
      if (this.#held <= this.#limit) return;
      this.release(body);
      body.refuse();
    }
  }
}
