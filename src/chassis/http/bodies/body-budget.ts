/** A body that comes in. */
export interface HeldBody {
  /** What is held of it, in bytes. */
  bytes: number;
  /** Has it give way to others. */
  refuse(): void;
}

/** Bodies that are decompressed at once: each may become a thousand times as long. */
const decompressedAtOnce = 2;

/**
 * Bounds what all bodies together hold of memory while they come in. Beyond it the oldest are refused: honest clients
 * finish soon, and a client that keeps many bodies open gives way. What is read only to be thrown away
 * is not held and does not count.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #coming = new Set<HeldBody>();
  /** Those that wait to be decompressed begin in this order. */
  readonly #waiting = new Set<() => void>();
  #held = 0;
  #decompressing = 0;

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

  /**
   * Decompresses a body in its turn; one that waits counts with what it has, and gives way as one that comes in.
   *
   * @param bytes what is held of it meanwhile
   * @throws what `refusal` makes where it had to give way, or `work` raises
   */
  async decompress<T>(bytes: number, refusal: () => Error, work: () => Promise<T>): Promise<T> {
    if (this.#decompressing < decompressedAtOnce) this.#decompressing += 1;
    else await this.#turn(bytes, refusal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      // The place goes to the next in line, or becomes free.
      if (next) next();
      else this.#decompressing -= 1;
    }
  }

  #turn(bytes: number, refusal: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const body: HeldBody = {
        bytes: 0,
        refuse: () => {
          this.#waiting.delete(begin);
          reject(refusal());
        },
      };
      const begin = () => {
        this.#waiting.delete(begin);
        this.release(body);
        resolve();
      };
      this.#waiting.add(begin);
      this.hold(body, bytes);
    });
  }

  #makeRoom(): void {
    for (const body of this.#coming) {
      if (this.#held <= this.#limit) return;
      this.release(body);
      body.refuse();
    }
  }
}
