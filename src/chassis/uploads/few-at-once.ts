/** Runs work that holds much memory, a few at a time, in the order in which it came. */
export class FewAtOnce {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param atOnce how many run at the same time */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Runs `work` in its turn. @throws what it raises */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
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
