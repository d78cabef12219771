import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { RequestContext } from '../context/request-context.ts';
import type { RequestObserver } from '../context/request-observer.ts';
import { errorBody } from '../errors/error-body.ts';
import { ServiceUnavailableException } from '../errors/exceptions.ts';
import { sendJsonResponse } from '../http/responses.ts';
import { logger } from '../telemetry/logger.ts';

interface Waiting {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** When it began to wait, by `performance.now()`. */
  since: number;
}

const reason = 'The request took longer than REQUEST_TIMEOUT_MS';

/**
 * Answers 503 to requests that wait longer than `timeoutMs` for their answer, and has their work end at its next step.
 * 503 because the service is what is slow: 408 would say that the client sends too slowly, 504 that the service is a
 * gateway (RFC 9110, 15.5.9, 15.6.4 and 15.6.5). A request that still comes in, or whose answer has begun, is not cut.
 *
 * One timer for all, and only while there are requests: they stand in the order in which they came, so whoever looks
 * sees the late ones first. The time is exact to a tenth of `timeoutMs`, and to a quarter of a second at most.
 */
export function timeOutRequests(timeoutMs: number, production: boolean): RequestObserver {
  const checkMs = Math.min(250, timeoutMs / 10);
  const waiting = new Map<RequestContext, Waiting>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    timer = waiting.size > 0 ? setTimeout(check, checkMs).unref() : undefined;
    const now = performance.now();
    for (const [context, entry] of waiting) {
      if (now - entry.since < timeoutMs) return;
      waiting.delete(context);
      if (entry.req.complete) giveUp(context, entry.res as Response);
      else waiting.set(context, { ...entry, since: now });
    }
  }

  function giveUp(context: RequestContext, res: Response): void {
    if (res.headersSent) return;
    const exception = new ServiceUnavailableException(reason);
    const { requestId, traceId, method, url, route } = context;
    logger().error({ requestId, traceId, method, url, route, timeoutMs }, reason);
    context.abort?.(reason);
    res.setHeader('Retry-After', '1');
    res.setHeader('Cache-Control', 'no-store');
    sendJsonResponse(res, exception.statusCode, errorBody(exception, production));
  }

  return {
    opened(context, req, res) {
      waiting.set(context, { req, res, since: performance.now() });
      if (timer === undefined) timer = setTimeout(check, checkMs).unref();
    },
    closed: (context) => void waiting.delete(context),
  };
}
