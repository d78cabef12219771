import type { RequestContext } from './request-context.ts';

/** The fields of a context that the request itself tells. */
export type ReceivedFields = Pick<RequestContext, 'requestId' | 'method' | 'url'> & {
  isProbe?: boolean;
  userAgent: string | undefined;
  ipAddress: string | undefined;
  deadline: number | undefined;
};

type Bill = (cost: number, context: RequestContext) => void;

/** The context that the pipeline makes of a request, with its clock and its signal. */
export class OpenRequest implements RequestContext {
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  declare readonly userAgent?: string;
  declare readonly ipAddress?: string;
  readonly startTime = new Date();
  declare readonly isProbe?: boolean;
  declare deadline?: number;
  readonly #started = performance.now();
  #aborting: AbortController | undefined;
  #abortReason: string | undefined;
  #bills: Bill[] | undefined;

  constructor({ requestId, method, url, userAgent, ipAddress, isProbe, deadline }: ReceivedFields) {
    this.requestId = requestId;
    this.method = method;
    this.url = url;
    if (isProbe) this.isProbe = true;
    if (userAgent !== undefined) this.userAgent = userAgent;
    if (ipAddress !== undefined) this.ipAddress = ipAddress;
    if (deadline !== undefined) this.deadline = deadline;
  }

  /** Few requests are ever asked for their signal, so it is made when one is. */
  get signal(): AbortSignal {
    if (this.#aborting === undefined) {
      this.#aborting = new AbortController();
      if (this.#abortReason !== undefined) this.#aborting.abort(abortError(this.#abortReason));
    }
    return this.#aborting.signal;
  }

  get abortReason(): string | undefined {
    return this.#abortReason;
  }

  /** Seconds since the request came, by a clock that never jumps. */
  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** Tells all that bill the request what it costs more. */
  charge(cost: number): void {
    for (const bill of this.#bills ?? []) bill(cost, this);
  }

  /** Has `bill` told of each charge. */
  onCharge(bill: Bill): void {
    if (this.#bills === undefined) this.#bills = [bill];
    else this.#bills.push(bill);
  }

  /** Aborts the signal; one that is asked for later is aborted too. */
  abort(reason: string): void {
    this.#abortReason ??= reason;
    this.#aborting?.abort(abortError(reason));
  }
}

/** The error that an aborted signal is known by, e.g. to `fetch`. */
function abortError(reason: string): DOMException {
  return new DOMException(reason, 'AbortError');
}
