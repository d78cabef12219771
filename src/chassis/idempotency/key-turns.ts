/** The request that has the turn, and how those are told that wait for it, in the order in which they came. */
interface Lane {
  fingerprint: string;
  readonly waiting: Map<() => void, string>;
}

/** Requests that wait, for all keys: each has a connection, and what it brought, for as long as it waits. */
const mostWaiting = 128;

/**
 * Has requests of one process with the same key go on one after the other: each asks the database again and again while
 * another one is in progress, and hundreds that do so would keep it from everybody else.
 */
export class KeyTurns {
  readonly #lanes = new Map<string, Lane>();
  readonly #longestMs: number;
  #waiting = 0;

  /** @param longestMs how long a request may have its turn, which then is the next one's */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** The fingerprint of the request that has the turn; undefined where none has. */
  holder(id: string): string | undefined {
    return this.#lanes.get(id)?.fingerprint;
  }

  /**
   * Waits for the turn of a request, for `ms` milliseconds at most, and not at all where 128 wait already, for
   * whatever key.
   *
   * @returns ends the turn; undefined where it has not come
   */
  async enter(id: string, fingerprint: string, ms: number): Promise<(() => void) | undefined> {
    const lane = this.#lanes.get(id);
    if (lane === undefined) this.#lanes.set(id, { fingerprint, waiting: new Map() });
    else if (!(await this.#turnIn(lane, fingerprint, ms))) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const leave = () => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      this.#leave(id);
    };
    timer = setTimeout(leave, this.#longestMs).unref();
    return leave;
  }

  #leave(id: string): void {
    const lane = this.#lanes.get(id);
    const [next] = lane?.waiting ?? [];
    if (lane === undefined || next === undefined) {
      this.#lanes.delete(id);
      return;
    }
    const [begin, fingerprint] = next;
    lane.fingerprint = fingerprint;
    lane.waiting.delete(begin);
    begin();
  }

  async #turnIn({ waiting }: Lane, fingerprint: string, ms: number): Promise<boolean> {
    if (this.#waiting >= mostWaiting) return false;
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const begin = () => resolve(true);
    waiting.set(begin, fingerprint);
    const timer = setTimeout(() => {
      waiting.delete(begin);
      resolve(false);
    }, ms);
    const came = await promise;
    clearTimeout(timer);
    this.#waiting -= 1;
    return came;
  }
}
