import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler, Response } from 'express';
import type { RequestObserver } from '../context/request-observer.ts';
import { errorBody } from '../errors/error-body.ts';
import { ServiceUnavailableException } from '../errors/exceptions.ts';
import { logger } from '../telemetry/logger.ts';
import { countShedRequest } from '../telemetry/metrics/metrics.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';

const counted = Symbol('counted as at work');
const remindMs = 10_000;

type CountedResponse = ServerResponse & { [counted]?: boolean };

/** Where a limit is to be put. */
export interface LimitConcurrency {
  /** The step that refuses; the first after those that are exempt. */
  admit: RequestHandler;
  /** Has to see every request, so that the end of each is known. */
  observer: RequestObserver;
}

/**
 * Refuses with 503 and `Retry-After` what `limit` does not admit, in the one error body, which is written once and not
 * for every refusal. A request counts once it has come in whole: a client that sends slowly takes nobody's place.
 */
export function limitConcurrency(limit: ConcurrencyLimit, production: boolean): LimitConcurrency {
  const [before, after] = bodyAround(production);
  const length = Buffer.byteLength(before + after) + new Date().toISOString().length;
  let remindedAt = Number.NEGATIVE_INFINITY;

  function count(res: CountedResponse): void {
    res[counted] = true;
    limit.enter();
  }

  function countReceived(this: IncomingMessage & { res?: Response }): void {
    const { res } = this;
    // It may have been refused, or given up, while it came in.
    if (res && !res.writableEnded && !res.destroyed) count(res);
  }

  function refuse(res: Response): void {
    countShedRequest();
    const now = performance.now();
    if (now - remindedAt > remindMs) {
      remindedAt = now;
      logger().warn({ limit: limit.limit, atWork: limit.atWork }, 'overloaded: requests are refused with 503');
    }
    res.statusCode = 503;
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Content-Length', length);
    res.setHeader('Retry-After', '1');
    res.setHeader('Cache-Control', 'no-store');
    res.end(before + new Date().toISOString() + after);
  }

  return {
    admit(req, res, next) {
      if (!limit.admits()) return refuse(res);
      if (hasBody(req)) req.once('end', countReceived);
      else count(res);
      next();
    },
    observer: {
      closed: (_context, _req, res) => {
        if ((res as CountedResponse)[counted]) limit.leave();
      },
    },
  };
}

/** The error body without its one part that differs. */
function bodyAround(production: boolean): [before: string, after: string] {
  const exception = new ServiceUnavailableException('The service is overloaded; try again in a moment');
  const [before = '', after = ''] = JSON.stringify(errorBody(exception, production)).split(
    exception.timestamp.toISOString(),
  );
  return [before, after];
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
