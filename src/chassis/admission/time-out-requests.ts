import type { Server, ServerResponse } from 'node:http';
import type { Response } from 'express';
import { tryAgain } from '../errors/try-again.ts';
import type { AnswerHeaders } from '../http/answers/answer-headers.ts';
import { sendFailure } from '../http/answers/send-failure.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import { isQueued } from '../http/pipeline/request-pipeline.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';
import type { LogMasks } from '../telemetry/redact.ts';

/** Whose requests time out, and how late ones are answered. */
interface TimeOutOptions {
  /** The responses of the server that are not complete yet, such as `Drain` knows them. */
  inFlight: Iterable<ServerResponse>;
  /** Hides the reason (spec.md: Errors, body rule 1). */
  production: boolean;
  logger: Logger;
  metrics: Pick<OverloadMetrics, 'shed'>;
  /** What the log masks in a URL; by default what is secret everywhere. */
  masks?: LogMasks;
  /** What every answer carries. */
  headers: AnswerHeaders;
}

const waitsSince = Symbol('when it began to wait');

type WaitingResponse = ServerResponse & { [waitsSince]?: number };

const reason = 'The request took longer than REQUEST_TIMEOUT_MS';

/**
 * Answers 503 to requests that wait longer than `timeoutMs` for their answer, and has their work end at its next step.
 * 503 because the service is what is slow: 408 would say that the client sends too slowly, 504 that the service is a
 * gateway (RFC 9110, 15.5.9, 15.6.4 and 15.6.5). A request that still comes in, waits for its turn on its connection, or
 * whose answer has begun, is not cut.
 *
 * No request pays for this: one timer looks at all of them, ten times within `timeoutMs` and four times a second at
 * least, so the time is exact to that.
 */
export function timeOutRequests(server: Server, timeoutMs: number, options: TimeOutOptions): void {
  function check(): void {
    const now = performance.now();
    for (const res of options.inFlight as Iterable<WaitingResponse>) {
      if (res.headersSent || isQueued(res)) continue;
      const since = res.req.complete ? (res[waitsSince] ?? now) : now;
      res[waitsSince] = since;
      if (now - since >= timeoutMs) giveUp(res as Response, timeoutMs, options);
    }
  }

  server.once('listening', () => {
    const timer = setInterval(check, Math.min(250, timeoutMs / 10)).unref();
    server.once('close', () => clearInterval(timer));
  });
}

function giveUp(res: Response, timeoutMs: number, options: TimeOutOptions): void {
  const { production, logger, masks, metrics, headers } = options;
  // Of a request that waits before it begins no pipeline has made it.
  const context = requestContextOf(res.req, masks);
  const { requestId, traceId, method, url, route } = context;
  logger.error({ requestId, traceId, method, url, route, timeoutMs }, reason);
  context.abort(reason);
  // The pipeline does all this, and has not seen a request that waits before it begins.
  if (!res.hasHeader('x-request-id')) {
    metrics.shed('timeout');
    res.setHeader('x-request-id', requestId);
    headers.apply(res);
  }
  sendFailure(res, tryAgain(reason), production);
}
