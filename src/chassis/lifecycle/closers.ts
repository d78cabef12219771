interface Closer {
  name: string;
  timeoutMs: number;
  close: () => unknown;
}

/** What a running service has opened, closed in reverse. */
export class Closers {
  readonly #closers: Closer[] = [];
  readonly #timeoutMs: number;

  /** @param timeoutMs how long each closer may take, in milliseconds, unless it is registered with another bound */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Registers how to close what was just opened; `name` appears in the error if that fails. */
  add(name: string, close: () => unknown, timeoutMs = this.#timeoutMs): void {
    this.#closers.push({ name, close, timeoutMs });
  }

  /**
   * Closes everything, last opened first, each also when another failed or hangs. Calling it again closes nothing twice.
   *
   * @throws AggregateError of all that failed or were not done within their time
   */
  async closeAll(): Promise<void> {
    const errors: Error[] = [];
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      try {
        await closeInTime(closer);
      } catch (cause) {
        errors.push(new Error(`Closing ${closer.name} failed: ${reasonOf(cause)}`, { cause }));
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => error.message).join('; '));
  }
}

async function closeInTime({ close, timeoutMs }: Closer): Promise<void> {
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
