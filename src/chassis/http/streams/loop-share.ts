/** What long answers together take of each turn of the event loop, in milliseconds; what came in meanwhile waits no longer. */
const shareMs = 10;

/**
 * Lends the event loop to long work, a short piece at a time and in turns: hundreds of long answers that go on whenever their
 * clients have read leave no time to anything else. One for a process, as its loop is.
 */
class LoopShare {
  readonly #waiting: (() => void)[] = [];
  #beganAt = 0;
  #isUnderWay = false;

  /** Resolves when the caller may do its next piece of work, of a few milliseconds. */
  turn(): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push(begin);
      if (!this.#isUnderWay) this.#lend();
    });
  }

  #lend(): void {
    this.#isUnderWay = true;
    this.#beganAt = Number.POSITIVE_INFINITY;
    // All immediates that are there when the loop comes to them run in the same turn of it.
    for (let count = this.#waiting.length; count > 0; count -= 1) setImmediate(this.#next, count === 1);
  }

  readonly #next = (isLast: boolean) => {
    const now = performance.now();
    this.#beganAt = Math.min(this.#beganAt, now);
    if (now - this.#beganAt < shareMs) this.#waiting.shift()?.();
    if (!isLast) return;
    this.#isUnderWay = false;
    if (this.#waiting.length > 0) this.#lend();
  };
}

export const loopShare = new LoopShare();
