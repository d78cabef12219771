import type { Express, Request, Response } from 'express';
import { pinoHttp } from 'pino-http';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { requestContextOf } from './request-context-of.ts';
import { answerStatus, routeTemplate } from './request-pipeline.ts';

const logKey = Symbol('logger of the service');
const ownLogKey = Symbol('logger of a request');
const metricsPath = /^\/metrics\/?(?:\?|$)/;

/** Where the lines go. */
interface LogRequestsOptions {
  logger: Logger;
}

/**
 * Writes one line for each request when it is over (spec.md: Loaders, HTTP configuration), wherever it was answered: id,
 * method, url, route template, status, duration in milliseconds, bytes of the body where its length was declared, trace
 * and user. The line of a refused request is a warning, whose message says why. Headers and bodies are never logged. Health
 * and metrics are logged only when they fail.
 */
export function logRequests({ logger }: LogRequestsOptions): RequestObserver {
  const middleware = pinoHttp<Request, Response>({
    logger,
    wrapSerializers: false,
    customLogLevel: levelOf,
    customSuccessObject: describe,
    customErrorObject: describe,
    customSuccessMessage: outcome,
    customErrorMessage: outcome,
  });
  // pino-http makes a logger for each request, which holds it. Most requests need none: one is made when it is asked for.
  const { child } = middleware.logger;
  middleware.logger.child = function childOf(this: Logger, bindings: object, options?: object) {
    return 'req' in bindings ? this : Reflect.apply(child, this, [bindings, options]);
  } as unknown as typeof child;
  return {
    opened(_context, req, res) {
      requestContextOf(req as Request).line = { log: logger, written: false };
      middleware(req as Request, res as Response);
    },
  };
}

function levelOf(req: Request, res: Response): 'silent' | 'info' | 'warn' {
  if (requestContextOf(req).line?.refusal) return 'warn';
  return res.statusCode < 400 && isQuiet(req) ? 'silent' : 'info';
}

/**
 * Makes `req.log` and `res.log` of an app's requests what authors know them to be: a logger of that request alone, whose
 * `setBindings` and `child` change no other's lines. It is made when it is first asked for.
 */
export function requestLoggers(app: Express): void {
  for (const prototype of [app.request, app.response]) {
    Object.defineProperty(prototype, 'log', {
      configurable: true,
      get(this: WithLog) {
        if (this[logKey] === undefined) return undefined;
        this[ownLogKey] ??= this[logKey].child({});
        return this[ownLogKey];
      },
      set(this: WithLog, logger: Logger) {
        this[logKey] = logger;
      },
    });
  }
}

interface WithLog {
  /** What pino-http set: the logger of the service. */
  [logKey]?: Logger;
  /** What was made of it. */
  [ownLogKey]?: Logger;
}

/** Asked for every few seconds, and of interest only when it fails. A router has cut the request's own path by now. */
function isQuiet(req: Request): boolean {
  return requestContextOf(req).isProbe === true || metricsPath.test(req.originalUrl.toLowerCase());
}

function describe(req: Request, res: Response): object {
  const { requestId, traceId, spanId, method, url, startTime, userId, route, line } = requestContextOf(req);
  const length = res.getHeader('content-length');
  if (line) line.written = true;
  return {
    ...line?.refusal?.fields,
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

function outcome(req: Request, res: Response): string {
  const { line } = requestContextOf(req);
  if (line?.refusal) return line.refusal.message;
  return res.writableFinished ? 'request completed' : 'request aborted';
}
