import { AsyncLocalStorage } from 'node:async_hooks';
import type { Service } from '../service.ts';
import type { Acting, Principal } from './principal.ts';

/** What the code that runs now belongs to. */
export interface Scope {
  readonly service: Service | undefined;
  readonly request: RequestContext | undefined;
  /** Set within `runAs` and `unscoped`. */
  readonly acting?: Acting | undefined;
}

/** One storage for both, because entering one costs a request more than all that it holds. */
export const scopes = new AsyncLocalStorage<Scope>();

/** What is known of the request under way (spec.md: Other records). */
export interface RequestContext {
  readonly requestId: string;
  readonly method: string;
  /** Path and query as received, at most 2,048 characters; secrets in the query are masked. */
  readonly url: string;
  /** At most 512 characters, with secrets masked. */
  readonly userAgent?: string;
  /** The client's address, as far as TRUST_PROXY lets a proxy tell it. */
  readonly ipAddress?: string;
  readonly startTime: Date;
  /** Whether it asks if the service lives or is ready, which happens every few seconds. */
  readonly isProbe?: boolean;
  /** Of the trace that the request belongs to: 32 hexadecimal digits, as in `traceparent` (W3C Trace Context). */
  traceId?: string;
  /** The span of the request itself where it is recorded, else the caller's: 16 hexadecimal digits. */
  spanId?: string;
  /** Whether somebody records the trace, so that its id leads somewhere. */
  sampled?: boolean;
  /** When the caller stops waiting, in milliseconds since 1970; passed on to the services that the request calls. */
  deadline?: number;
  /** Aborted when the client went away before the answer was complete. Made on first use. */
  readonly signal?: AbortSignal;
  /** Why the request was abandoned; undefined while its client waits. Cheaper to read than `signal`. */
  readonly abortReason?: string | undefined;
  /** Has the work for this request end at its next step, with `signal` and `abortReason`. */
  abort?(reason: string): void;
  /** Says that the request costs so much more; see `chargeRequest`. */
  charge?(cost: number): void;
  /** Has `bill` told of each charge; what it raises ends the request. */
  onCharge?(bill: (cost: number, context: RequestContext) => void): void;
  /** The route template that serves the request, e.g. `/api/v1/products/:id`; set once a route matched. */
  route?: string;
  /** Id of the authenticated caller, for logs and limits; `setPrincipal` sets it. */
  userId?: string;
  /** The authenticated caller; guards set it with `setPrincipal`, and `currentPrincipal()` reads it. */
  principal?: Principal;
}

/**
 * The context of the request under way, readable anywhere below its handler (spec.md: Other records).
 * Undefined outside a request.
 */
export function getRequestContext(): RequestContext | undefined {
  return scopes.getStore()?.request;
}

/** Runs `work` with `context` as the current request context, in the service that the caller belongs to or in `service`. */
export function runWithRequestContext<T>(
  context: RequestContext,
  work: () => T,
  service = scopes.getStore()?.service,
): T {
  return scopes.run({ service, request: context }, work);
}

/** Runs `work` outside the current request, for what is not its own doing. */
export function runOutsideRequest<T>(work: () => T): T {
  return scopes.run({ service: scopes.getStore()?.service, request: undefined }, work);
}

/** The fields of a context that the request itself tells. */
type ReceivedFields = Pick<RequestContext, 'requestId' | 'method' | 'url'> & {
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

/**
 * Says what the request under way costs beside being received, as soon as that is known and before the work begins: its
 * client pays for it at rate limits and at overload. List policies compute the cost of their queries, and the controllers
 * of resources say it; a route with heavy work of its own says it itself. Does nothing outside a request.
 *
 * @param cost in units of finding one record by an index of the database, which takes about a millisecond
 * @throws TooManyRequestsException when the client has not that much left
 */
export function chargeRequest(cost: number): void {
  getRequestContext()?.charge?.(cost);
}
