import { scopes } from './scope.ts';

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
  /** When the caller stops waiting, in milliseconds since 1970; passed on to whom `fetch` calls. */
  deadline?: number;
  /** Aborted when the client went away before the answer was complete. Made on first use. */
  readonly signal?: AbortSignal;
  /** Why nobody waits for the answer any more; undefined while somebody does. Cheaper to ask than `signal`. */
  readonly abortReason?: string | undefined;
  /** Has the work for this request end at its next step, with `signal` and `abortReason`. */
  abort?(reason: string): void;
  /** Says that the request costs so much more; see `chargeRequest`. */
  charge?(cost: number): void;
  /** Has `bill` told of each charge; what it raises ends the request. */
  onCharge?(bill: (cost: number, context: RequestContext) => void): void;
  /** The route template that serves the request, e.g. `/api/v1/products/:id`; set once a route matched. */
  route?: string;
  /** Set by the guard that authenticated the caller. */
  userId?: string;
  /** The session that the caller's credentials belong to; set by guards that know sessions. */
  sessionId?: string;
  /** Roles of the authenticated caller. */
  roles?: readonly string[];
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
