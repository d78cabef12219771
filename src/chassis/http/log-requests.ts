import type { Request, RequestHandler, Response } from 'express';
import { pinoHttp } from 'pino-http';
import type { Logger } from '../telemetry/logger.ts';
import { requestContextOf } from './request-pipeline.ts';
import { routeTemplate } from './route-table.ts';

const requestLoggers = new WeakSet<object>();

/** Where the lines go. */
export interface LogRequestsOptions {
  logger: Logger;
}

/**
 * Writes one line for each request when it is over (spec.md: Loaders, HTTP configuration): id, method, url, route
 * template, status, duration in milliseconds, bytes of the body where its length was declared, and user. Headers and
 * bodies are never logged.
 */
export function logRequests({ logger }: LogRequestsOptions): RequestHandler {
  const middleware = pinoHttp<Request, Response>({
    logger,
    wrapSerializers: false,
    // pino-http binds the request to a child logger; the line below says all there is to say.
    serializers: { req: () => undefined, res: () => undefined },
    customSuccessObject: describe,
    customErrorObject: describe,
    customSuccessMessage: outcome,
    customErrorMessage: outcome,
  }) as RequestHandler;
  requestLoggers.add(middleware);
  return middleware;
}

/**
 * Begins the line of a request that failed before the logging step was reached; nothing where the app has no such
 * step or the request has passed it.
 */
export function logUnloggedRequest(req: Request, res: Response): void {
  if ((res as { log?: unknown }).log !== undefined) return;
  const steps: { handle: unknown }[] = req.app?.router?.stack ?? [];
  const step = steps.find(({ handle }) => requestLoggers.has(handle as object));
  if (step) (step.handle as RequestHandler)(req, res, () => undefined);
}

function describe(req: Request, res: Response): object {
  const { requestId, method, url, startTime, userId, route } = requestContextOf(req);
  const length = res.getHeader('content-length');
  return {
    requestId,
    method,
    url,
    route: routeTemplate(req) ?? route,
    status: res.statusCode,
    durationMs: Date.now() - startTime.getTime(),
    bytes: length === undefined ? undefined : Number(length),
    userId,
  };
}

function outcome(_req: Request, res: Response): string {
  return res.writableEnded ? 'request completed' : 'request aborted';
}
