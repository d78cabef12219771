import type { IncomingMessage, ServerResponse } from 'node:http';
import { isProbePath } from '../context/probe-paths.ts';
import { hasBody, mediaType, methodsWithBody, readingOf } from '../http/bodies/request-body.ts';
import type { Gate } from '../http/pipeline/request-listener.ts';
import { logger } from '../telemetry/logger.ts';
import { countShedRequest } from '../telemetry/metrics/metrics.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { OverloadAnswer, type OverloadAnswerOptions } from './overload-answer.ts';

const remindMs = 10_000;

/**
 * Refuses what `limit` does not admit with 503. It does so before the app sees the request, and without a line in the log
 * for each: what costs the least leaves the most time for the requests that are admitted. A request counts once it has
 * come in whole: a client that sends slowly takes nobody's place.
 */
export function concurrencyGate(limit: ConcurrencyLimit, options: OverloadAnswerOptions): Gate {
  const refusal = new OverloadAnswer(options);
  let refused = 0;
  let remindedAt = Number.NEGATIVE_INFINITY;

  function leave(): void {
    limit.leave();
  }

  function count(res: ServerResponse): void {
    limit.enter();
    res.on('close', leave);
  }

  function countReceived(this: IncomingMessage & { res?: ServerResponse }): void {
    const { res } = this;
    // It may have been refused, or given up, while it came in.
    if (res && !res.writableEnded && !res.destroyed) count(res);
  }

  function remind(): void {
    refused += 1;
    const now = performance.now();
    if (now - remindedAt < remindMs) return;
    logger().warn({ refused, limit: limit.limit, atWork: limit.atWork }, 'overloaded: requests are refused with 503');
    remindedAt = now;
    refused = 0;
  }

  return function admit(req, res) {
    if (isProbe(req)) return true;
    if (!limit.admits()) {
      countShedRequest();
      remind();
      refusal.send(res);
      return false;
    }
    if (isReadFirst(req)) req.once('end', countReceived);
    else count(res);
    return true;
  };
}

/** Those who ask decide whether the service lives, which being busy must not end. */
function isProbe({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && isProbePath(url);
}

/** Whether the body is read before any route sees the request. Another may never be read, and so never end. */
function isReadFirst(req: IncomingMessage): boolean {
  return hasBody(req) && (methodsWithBody.has(req.method ?? '') || readingOf(mediaType(req)) !== undefined);
}
