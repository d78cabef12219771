import type { IncomingMessage } from 'node:http';

interface IncomingBody {
  bytes: number;
  /** Leads to the request; gone once the body no longer comes in, because what a Set leaves behind may be kept for long. */
  refuse: (() => void) | undefined;
}

/**
 * Bounds what all bodies together hold of memory while they come in. Beyond it the oldest are refused: who sends in good
 * faith is done soon, and who keeps many bodies open without ending them gives way.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #coming = new Set<IncomingBody>();
  #held = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Counts a body that begins to come in.
   *
   * @param atOnce bytes that are taken to be held from the beginning, such as those of a body that will be inflated
   * @param refuse called at most once, when the body has to give way
   * @returns what ends the count, once the body is there or given up
   */
  watch(req: IncomingMessage, atOnce: number, refuse: () => void): () => void {
    const body: IncomingBody = { bytes: 0, refuse };
    const count = (bytes: number) => {
      if (!this.#coming.has(body)) return;
      body.bytes += bytes;
      this.#held += bytes;
      if (this.#held > this.#limit) this.#makeRoom();
    };
    const countChunk = (chunk: Buffer) => count(chunk.length);
    const end = () => {
      req.off('data', countChunk);
      this.#remove(body);
    };
    this.#coming.add(body);
    req.on('data', countChunk);
    req.once('close', end);
    if (atOnce > 0) count(atOnce);
    return end;
  }

  #makeRoom(): void {
    for (const body of this.#coming) {
      if (this.#held <= this.#limit) return;
      const { refuse } = body;
      this.#remove(body);
      refuse?.();
    }
  }

  #remove(body: IncomingBody): void {
    body.refuse = undefined;
    if (this.#coming.delete(body)) this.#held -= body.bytes;
  }
}
