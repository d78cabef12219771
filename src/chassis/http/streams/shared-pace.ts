import { setTimeout as wait } from 'node:timers/promises';
import { currentClientKey, getRequestContext } from '../../context/request-context.ts';

const second = 1000;
/** How many look each second at most, however many there are. */
const looksPerSecond = 100;
const longestPauseMs = 10_000;

/**
 * Moments at which streams look for what is new: each second or, with more than a hundred streams, as much less often, so
 * that they cost no more together. Addresses have equal parts of that, so whoever opens many streams waits itself. One for all
 * streams of a kind.
 */
export class SharedPace {
  /** Streams of each client address. */
  readonly #followers = new Map<string, number>();

  /** The moments of one stream, the first at once; they end with its request. */
  async *moments(): AsyncGenerator<void, void, undefined> {
    const signal = getRequestContext()?.signal;
    const address = currentClientKey();
    this.#count(address, 1);
    try {
      for (;;) {
        yield;
        await wait(this.#pauseMs(address), undefined, { ref: false, ...(signal && { signal }) });
      }
    } finally {
      this.#count(address, -1);
    }
  }

  #count(address: string, change: number): void {
    const followers = this.#of(address) + change;
    if (followers === 0) this.#followers.delete(address);
    else this.#followers.set(address, followers);
  }

  #of(address: string): number {
    return this.#followers.get(address) ?? 0;
  }

  #pauseMs(address: string): number {
    const looks = (this.#of(address) * this.#followers.size) / looksPerSecond;
    return Math.min(longestPauseMs, second * Math.max(1, looks));
  }
}
