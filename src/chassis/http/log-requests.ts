import type { Request, Response } from 'express';
import { pinoHttp } from 'pino-http';
import type { RequestObserver } from '../context/request-observer.ts';
import type { Logger } from '../telemetry/logger.ts';
import { requestContextOf } from './request-pipeline.ts';
import { routeTemplate } from './route-table.ts';

/** Asked for every few seconds, and of interest only when they fail. */
const quietPaths = new Set(['/livez', '/readyz', '/metrics']);

/** The status of a request whose client went away before the answer had begun, as the metrics have it. */
const clientClosedRequest = 499;

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
    customLogLevel: (req, res) => (res.statusCode < 400 && quietPaths.has(pathOf(req.originalUrl)) ? 'silent' : 'info'),
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

/** A router has cut the request's own path by the time that it answers. */
function pathOf(url: string): string {
  return url.split('?', 1)[0]?.replace(/\/$/, '').toLowerCase() ?? '';
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
    status: res.destroyed && !res.headersSent ? clientClosedRequest : res.statusCode,
    durationMs: Date.now() - startTime.getTime(),
    bytes: length === undefined ? undefined : Number(length),
    userId,
  };
}

function outcome(_req: Request, res: Response): string {
  return res.writableFinished ? 'request completed' : 'request aborted';
}
