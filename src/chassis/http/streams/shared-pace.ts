import { setTimeout as wait } from 'node:timers/promises';
import { getRequestContext } from '../../context/request-context.ts';

const second = 1000;
/** How many look each second at most, however many there are. */
const looksPerSecond = 100;
const longestPauseMs = 10_000;

/**
 * Moments at which streams look for what is new: each second or, with more than a hundred streams, as much less often, so
 * that they cost no more together. One for all streams of a kind.
 */
export class SharedPace {
  #followers = 0;

  /** The moments of one stream, the first at once; they end with its request. */
  async *moments(): AsyncGenerator<void, void, undefined> {
    const signal = getRequestContext()?.signal;
    this.#followers += 1;
    try {
      for (;;) {
        yield;
        await wait(this.#pauseMs, undefined, { ref: false, ...(signal && { signal }) });
      }
    } finally {
      this.#followers -= 1;
    }
  }

  get #pauseMs(): number {
    return Math.min(longestPauseMs, second * Math.max(1, this.#followers / looksPerSecond));
  }
}
