import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestContext } from './request-context.ts';

/** How a request ended. */
export interface RequestOutcome {
  /** From when the request came in its turn on its connection until the last byte was handed over, by a clock that never jumps. */
  readonly seconds: number;
  /** As the client got it; 499 where it went away before the answer had begun, as proxies count it. */
  readonly status: number;
  /** Whether the connection ended before the whole answer was handed over. */
  readonly aborted: boolean;
  /** The route template that served the request, e.g. `/api/v1/products/:id`; undefined where none matched. */
  readonly route: string | undefined;
}

/**
 * Sees every request begin and end: spans, metrics and logs are made of it. Both calls are synchronous, on the way of
 * each request, and must not raise.
 */
export interface RequestObserver {
  /** Before any other step; what it adds to the context is there for all of them. Not run inside the context. */
  opened?(context: RequestContext, req: IncomingMessage, res: ServerResponse): void;
  /**
   * Of the first observer: whether requests close before listeners hear of it that were there when they came, such as those
   * of an injected SDK, which end its spans.
   */
  readonly closesFirst?: boolean;
  /** Exactly once for each request that was opened, after the answer or the end of its connection. */
  closed?(context: RequestContext, req: IncomingMessage, res: ServerResponse, outcome: RequestOutcome): void;
}
