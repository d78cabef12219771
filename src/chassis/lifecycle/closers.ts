interface Closer {
  name: string;
  close: () => unknown;
  /** A bound of its own, which counts towards no other. */
  timeoutMs: number | undefined;
}

/** What a running service has opened, closed in reverse. */
export class Closers {
  readonly #closers: Closer[] = [];
  readonly #timeoutMs: number;

  /**
   * @param timeoutMs how long each closer may take, in milliseconds, and all together twice as long; those that are
   *   registered with a bound of their own do not count
   */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Registers how to close what was just opened; `name` appears in the error if that fails. */
  add(name: string, close: () => unknown, timeoutMs?: number): void {
    this.#closers.push({ name, close, timeoutMs });
  }

  /**
   * Closes everything, last opened first, each also when another failed or hangs. Calling it again closes nothing twice.
   *
   * @throws AggregateError of all that failed or were not done within their time
   */
  async closeAll(): Promise<void> {
    const errors: Error[] = [];
    let leftMs = 2 * this.#timeoutMs;
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      const began = performance.now();
      try {
        await inTime(closer.close, closer.timeoutMs ?? Math.min(this.#timeoutMs, leftMs));
      } catch (cause) {
        errors.push(new Error(`Closing ${closer.name} failed: ${reasonOf(cause)}`, { cause }));
      }
      if (closer.timeoutMs === undefined) leftMs = Math.max(0, leftMs - Math.floor(performance.now() - began));
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => error.message).join('; '));
  }
}

async function inTime(close: () => unknown, timeoutMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done within ${timeoutMs} ms`)), timeoutMs);
  try {
    await Promise.race([close(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
