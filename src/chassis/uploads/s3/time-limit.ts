import { PeerFailure } from '../../outbound/peer-failure.ts';

/** Ends work of which nothing is heard for too long. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #late = Promise.withResolvers<never>();
  readonly #timer: NodeJS.Timeout;

  /** @param ms how long it may take until the first or the next sign of life, in milliseconds */
  constructor(ms: number) {
    this.#late.promise.catch(() => undefined);
    this.#timer = setTimeout(() => {
      const failure = new PeerFailure({ reason: 'timeout' });
      this.#controller.abort(failure);
      this.#late.reject(failure);
    }, ms);
  }

  /** Aborted once it took too long. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Tells that it goes on. */
  readonly beat = (): void => {
    this.#timer.refresh();
  };

  /** What comes of the work. @throws PeerFailure once it took too long */
  async hold<T>(work: Promise<T>): Promise<T> {
    try {
      return await Promise.race([work, this.#late.promise]);
    } finally {
      clearTimeout(this.#timer);
    }
  }
}
