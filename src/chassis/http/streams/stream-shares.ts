import { callerKey, clientKey, type RequestContext } from '../../context/request-context.ts';
import { ServiceUnavailableException, TooManyRequestsException } from '../../errors/exceptions.ts';

/** What one address may have of all streams of rows: it may have many accounts. */
const shareOfAddress = 0.25;
const retry = { headers: { 'Retry-After': '1' }, stack: false };

/**
 * How many streams each caller has under way. One of rows costs more than a thousand requests, one of events holds its
 * connection and source for hours, and none of it is known when it is admitted: one client with hundreds of them would
 * leave others no time or no connection.
 */
export class StreamShares {
  readonly #open = new Map<string, number>();
  readonly #mostRows: number;
  #rows = 0;

  readonly #memory: { readonly isShort: boolean } | undefined;

  /**
   * @param mostRows streams of rows at once, of all callers: each holds the rows that its source has read
   * @param memory tells when it is short, so that no stream of rows begins
   */
  constructor(mostRows: number, memory?: { readonly isShort: boolean }) {
    this.#mostRows = mostRows;
    this.#memory = memory;
  }

  /**
   * Counts a stream of rows.
   *
   * @param context of its request
   * @param most of one caller at once
   * @returns ends the count
   * @throws TooManyRequestsException beyond that, and beyond a quarter of all for one address; ServiceUnavailableException beyond all, and while memory is short
   */
  enterRows(context: RequestContext | undefined, most: number): () => void {
    const address = `rows of ${clientKey(context?.ipAddress)}`;
    const leaveAddress = this.enter(address, Math.max(most, Math.ceil(this.#mostRows * shareOfAddress)));
    try {
      if (this.#rows >= this.#mostRows || this.#memory?.isShort) {
        throw new ServiceUnavailableException(
          'Too many streams are under way; try again in a moment',
          undefined,
          retry,
        );
      }
      const leaveCaller = this.enter(callerKey(context), most);
      this.#rows += 1;
      return () => {
        this.#rows -= 1;
        leaveCaller();
        leaveAddress();
      };
    } catch (error) {
      leaveAddress();
      throw error;
    }
  }

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
        retry,
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
