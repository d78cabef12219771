import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { RequestContext } from '../context/request-context.ts';
import type { RequestObserver } from '../context/request-observer.ts';
import { ServiceUnavailableException } from '../errors/exceptions.ts';
import { sendFailure } from '../http/answers/send-failure.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A request that waits, in a ring of all that do, in which it stands behind those that came before it. */
interface WaitingRequest {
  readonly context: RequestContext;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** When it began to wait, by `performance.now()`. */
  since: number;
  before: Link;
  after: Link;
}

/** The place of the ring where it begins and ends. */
interface Link {
  before: Link;
  after: Link;
}

/** How late requests are answered. */
interface TimeOutOptions {
  /** Hides the reason (spec.md: Errors, body rule 1). */
  production: boolean;
  logger: Logger;
}

const place = Symbol('place among those that wait');

type WaitingResponse = ServerResponse & { [place]?: WaitingRequest | undefined };

const reason = 'The request took longer than REQUEST_TIMEOUT_MS';

/**
 * Answers 503 to requests that wait longer than `timeoutMs` for their answer, and has their work end at its next step.
 * 503 because the service is what is slow: 408 would say that the client sends too slowly, 504 that the service is a
 * gateway (RFC 9110, 15.5.9, 15.6.4 and 15.6.5). A request that still comes in, or whose answer has begun, is not cut.
 *
 * One timer for all, and only while there are requests: they are kept in order of arrival, so the late ones
 * come first. The time is exact to a tenth of `timeoutMs`, and to a quarter of a second at most.
 */
export function timeOutRequests(timeoutMs: number, { production, logger }: TimeOutOptions): RequestObserver {
  const checkMs = Math.min(250, timeoutMs / 10);
  const ring = emptyRing();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const now = performance.now();
    for (
      let first = ring.after;
      first !== ring && now - (first as WaitingRequest).since >= timeoutMs;
      first = ring.after
    ) {
      const late = first as WaitingRequest;
      leave(late);
      if (late.req.complete) giveUp(late.context, late.res as Response);
      else enter(late, now);
    }
    timer = ring.after === ring ? undefined : setTimeout(check, checkMs).unref();
  }

  function enter(waiting: WaitingRequest, now: number): void {
    waiting.since = now;
    waiting.before = ring.before;
    waiting.after = ring;
    ring.before.after = waiting;
    ring.before = waiting;
    (waiting.res as WaitingResponse)[place] = waiting;
  }

  function giveUp(context: RequestContext, res: Response): void {
    if (res.headersSent) return;
    const exception = new ServiceUnavailableException(reason, undefined, { headers: { 'Retry-After': '1' } });
    const { requestId, traceId, method, url, route } = context;
    logger.error({ requestId, traceId, method, url, route, timeoutMs }, reason);
    context.abort?.(reason);
    sendFailure(res, exception, production);
  }

  return {
    opened(context, req, res) {
      enter({ context, req, res, since: 0, before: ring, after: ring }, performance.now());
      if (timer === undefined) timer = setTimeout(check, checkMs).unref();
    },
    closed(_context, _req, res: WaitingResponse) {
      if (res[place]) leave(res[place]);
    },
  };
}

function emptyRing(): Link {
  const ring = {} as Link;
  ring.before = ring;
  ring.after = ring;
  return ring;
}

/**
 * Lets go of its neighbours too: one that has left but is not yet collected would else hold the next, that one the next
 * again, and so each request that ever came until the collector looks at all memory.
 */
function leave(waiting: WaitingRequest): void {
  waiting.before.after = waiting.after;
  waiting.after.before = waiting.before;
  waiting.before = waiting;
  waiting.after = waiting;
  (waiting.res as WaitingResponse)[place] = undefined;
}
