import type { ServerResponse } from 'node:http';

/** What a compressor takes beside its body, in bytes: measured for gzip on Node 24, brotli takes less. */
const compressorBytes = 300_000;
/** A body is held as text and as bytes, and brotli keeps twice as much of it. */
const copies = 4;

/**
 * Bounds what all compressors hold of memory. One response is compressed however long it is, so that a small budget does
 * not switch compression off.
 */
export class CompressionBudget {
  readonly #limit: number;
  #total = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a response until it is closed; false where there is no room for it. @param length of its body in bytes, 0 where it is not known */
  hold(res: ServerResponse, length: number): boolean {
    const bytes = compressorBytes + copies * length;
    if (this.#total > 0 && this.#total + bytes > this.#limit) return false;
    this.#total += bytes;
    res.once('close', () => {
      this.#total -= bytes;
    });
    return true;
  }
}
