import type { Request, Response } from 'express';
import { pinoHttp } from 'pino-http';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { requestContextOf } from './request-context-of.ts';
import { answerStatus } from './request-pipeline.ts';
import { routeTemplate } from './route-table.ts';

const metricsPath = /^\/metrics\/?(?:\?|$)/;

/** Where the lines go. */
export interface LogRequestsOptions {
  logger: Logger;
}

/**
 * Writes one line for each request when it is over (spec.md: Loaders, HTTP configuration), wherever it was answered: id,
 * method, url, route template, status, duration in milliseconds, bytes of the body where its length was declared, trace
 * and user. Headers and bodies are never logged. Health and metrics are logged only when they fail.
 */
export function logRequests({ logger }: LogRequestsOptions): RequestObserver {
  const middleware = pinoHttp<Request, Response>({
    logger,
    wrapSerializers: false,
    customLogLevel: (req, res) => (res.statusCode < 400 && isQuiet(req) ? 'silent' : 'info'),
    customSuccessObject: describe,
    customErrorObject: describe,
    customSuccessMessage: outcome,
    customErrorMessage: outcome,
  });
  // pino-http makes a logger for each request, which holds it; the line below says all that there is to say.
  const made = middleware.logger.child.bind(middleware.logger);
  Object.assign(middleware.logger, {
    child: (bindings: object, options?: object) => ('req' in bindings ? middleware.logger : made(bindings, options)),
  });
  return { opened: (_context, req, res) => middleware(req as Request, res as Response) };
}

/** Asked for every few seconds, and of interest only when it fails. A router has cut the request's own path by now. */
function isQuiet(req: Request): boolean {
  return requestContextOf(req).isProbe === true || metricsPath.test(req.originalUrl.toLowerCase());
}

function describe(req: Request, res: Response): object {
  const { requestId, traceId, spanId, method, url, startTime, userId, route } = requestContextOf(req);
  const length = res.getHeader('content-length');
  return {
    requestId,
    traceId,
    spanId,
    method,
    url,
    route: routeTemplate(req) ?? route,
    status: answerStatus(res),
    durationMs: Date.now() - startTime.getTime(),
    bytes: length === undefined ? undefined : Number(length),
    userId,
  };
}

function outcome(_req: Request, res: Response): string {
  return res.writableFinished ? 'request completed' : 'request aborted';
}
