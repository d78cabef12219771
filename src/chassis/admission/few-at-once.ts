import { ServiceUnavailableException } from '../errors/exceptions.ts';

/**
 * Runs heavy work a few at a time, in the order in which it came: what holds much memory, or keeps a thread beside the event
 * loop busy.
 */
export class FewAtOnce {
  readonly #waiting: (() => void)[] = [];
  readonly #mayWait: number;
  #free: number;

  /**
   * @param atOnce how many run at the same time
   * @param mayWait how many more wait for their turn; by default there is no limit
   */
  constructor(atOnce: number, mayWait = Number.POSITIVE_INFINITY) {
    this.#free = atOnce;
    this.#mayWait = mayWait;
  }

  /**
   * Runs `work` in its turn.
   *
   * @throws ServiceUnavailableException with Retry-After, at once, when as many wait as may; what `work` raises
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else if (this.#waiting.length < this.#mayWait) await new Promise<void>((begin) => this.#waiting.push(begin));
    else throw new ServiceUnavailableException(undefined, undefined, { headers: { 'Retry-After': '1' }, stack: false });
    try {
      return await work();
    } finally {
      // The place goes to the next in line, or becomes free.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
