import type { IncomingMessage, ServerResponse } from 'node:http';
import { isProbePath } from '../context/probe-paths.ts';
import { errorBody } from '../errors/error-body.ts';
import { ServiceUnavailableException } from '../errors/exceptions.ts';
import { hasBody, methodsWithBody } from '../http/has-body.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Gate } from '../http/request-listener.ts';
import { logger } from '../telemetry/logger.ts';
import { countShedRequest } from '../telemetry/metrics/metrics.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';

const remindMs = 10_000;

/**
 * Refuses what `limit` does not admit with 503, `Retry-After` and the one error body, which is written at start. It does so
 * before the app sees the request, and without a line in the log for each: what costs the least leaves the most time for
 * the requests that are admitted. A request counts once it has come in whole: a client that sends slowly takes nobody's
 * place.
 */
export function limitConcurrency(limit: ConcurrencyLimit, production: boolean): Gate {
  const [before, after] = bodyAround(production);
  const length = String(Buffer.byteLength(before + after) + new Date().toISOString().length);
  const headers = [
    ...['Content-Type', 'application/json; charset=utf-8'],
    ...['Content-Length', length],
    ...['Retry-After', '1'],
    ...['Cache-Control', 'no-store'],
  ];
  const refusals: ServerResponse[] = [];
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

  function refuse(res: ServerResponse): void {
    countShedRequest();
    remind();
    if (refusals.push(res) === 1) setImmediate(answerAll);
  }

  /** Together, once all that has come is read, which costs less than one at a time. */
  function answerAll(): void {
    const body = before + new Date().toISOString() + after;
    for (const res of refusals.splice(0)) {
      res.writeHead(503, ['X-Request-Id', requestIdOf(res.req), ...headers]);
      res.end(body);
    }
  }

  return function admit(req, res) {
    if (isProbe(req)) return true;
    if (!limit.admits()) {
      refuse(res);
      return false;
    }
    // Of another method it may never be read, and so never end.
    if (hasBody(req) && methodsWithBody.has(req.method ?? '')) req.once('end', countReceived);
    else count(res);
    return true;
  };
}

/** Those who ask decide whether the service lives, which being busy must not end. */
function isProbe({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && isProbePath(url);
}

/** The error body without its one part that differs. */
function bodyAround(production: boolean): [before: string, after: string] {
  const exception = new ServiceUnavailableException('The service is overloaded; try again in a moment');
  const [before = '', after = ''] = JSON.stringify(errorBody(exception, production)).split(
    exception.timestamp.toISOString(),
  );
  return [before, after];
}
