import { AsyncLocalStorage } from 'node:async_hooks';

/** What is known of the request under way (spec.md: Other records). */
export interface RequestContext {
  readonly requestId: string;
  readonly method: string;
  /** Path and query as received, at most 2,048 characters. */
  readonly url: string;
  readonly userAgent?: string;
  readonly ipAddress?: string;
  readonly startTime: Date;
  /** The route template that serves the request, e.g. `/api/v1/products/:id`; set once a route matched. */
  route?: string;
  /** Set by the guard that authenticated the caller. */
  userId?: string;
  /** Roles of the authenticated caller. */
  roles?: readonly string[];
}

const storage = new AsyncLocalStorage<RequestContext>();

/**
 * The context of the request under way, readable anywhere below its handler (spec.md: Other records).
 * Undefined outside a request.
 */
export function getRequestContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Runs `work` with `context` as the current request context. */
export function runWithRequestContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}
