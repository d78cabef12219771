import { TooManyRequestsException } from '../../errors/exceptions.ts';

/**
 * How many streams each caller has under way. One of rows costs more than a thousand requests, one of events holds its
 * connection and source for hours, and none of it is known when it is admitted: one client with hundreds of them would
 * leave others no time or no connection.
 */
export class StreamShares {
  readonly #open = new Map<string, number>();

  /**
   * Counts a stream.
   *
   * @param caller whose streams of one kind count together
   * @param most of one caller at once
   * @returns ends the count
   * @throws TooManyRequestsException beyond that
   */
  enter(caller: string, most: number): () => void {
    const before = this.#open.get(caller) ?? 0;
    if (before >= most) {
      throw new TooManyRequestsException(
        `${most} streams of yours are under way; try again after one of them`,
        undefined,
        {
          headers: { 'Retry-After': '1' },
        },
      );
    }
    this.#open.set(caller, before + 1);
    return () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left === 0) this.#open.delete(caller);
      else this.#open.set(caller, left);
    };
  }
}
