import type { ErrorRequestHandler, Request, Response } from 'express';
import type { RequestContext } from '../../context/request-context.ts';
import { type ErrorConverter, toException } from '../../errors/convert-error.ts';
import type { BaseException } from '../../errors/exceptions.ts';
import { logReporter } from '../../errors/reporters/log-reporter.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { logFailure, tellReporters } from '../../errors/reporters/tell-reporters.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { requestContextOf } from '../pipeline/request-context-of.ts';
import { routeTemplate } from '../pipeline/request-pipeline.ts';
import { abandonedAnswer } from './abandoned-answer.ts';
import { undoRequest } from './request-failure.ts';
import { sendJsonResponse } from './responses.ts';
import { sendFailure } from './send-failure.ts';

/** What a failed handler may have set for the answer that it did not give. */
const headersOfSuccess = [
  'content-encoding',
  'content-disposition',
  'content-language',
  'content-range',
  'etag',
  'last-modified',
  'link',
  'location',
  'x-result-limit',
];

/** How failures are answered. */
export interface ErrorHandlerOptions {
  /** Where exceptions are logged, and what fails while they are answered. */
  logger: Logger;
  /** Each receives the exception and the request context. Default: one that logs all. */
  reporters?: readonly Reporter[];
  /** Hides the text of failures with status 500 and above (spec.md: Errors, body rule 1). */
  production: boolean;
  /** Convert errors of other origins, such as the database's. */
  converters?: readonly ErrorConverter[];
}

/**
 * The last step of an app: turns any thrown value into an exception with the request's context, answers with the one
 * error body and reports it (spec.md: Handling, rules 1, 2 and 4). When the answer has begun already the connection is
 * cut, because the client must not take a part for the whole.
 */
export function errorHandler(options: ErrorHandlerOptions): ErrorRequestHandler {
  const { logger, converters, reporters = [logReporter(logger)] } = options;
  // Express knows an error handler by its four parameters.
  return function handleError(error, req, res, _next) {
    const context = requestContextOf(req);
    const exception = abandonedAnswer(error, context, res) ?? toException(error, converters);
    addRoute(context, req);
    addContext(exception, context);
    respond(res, exception, options);
    tellReporters(reporters, exception, context, logger);
    if (hasReachedItsAnswer(error)) return;
    undoRequest(req, exception).catch((failure: unknown) =>
      logFailure(logger, failure, 'undoing a failed request failed'),
    );
  };
}

/** What such a request wrote is stored, and may refer to what it would undo: only its answer came too late, or a second time. */
function hasReachedItsAnswer(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_HTTP_HEADERS_SENT';
}

function addRoute(context: RequestContext, req: Request): void {
  const route = routeTemplate(req);
  if (route !== undefined) context.route = route;
}

/** Fields of the request stand over those of the same name, so that an exception thrown twice tells the truth. */
function addContext(exception: BaseException, context: RequestContext): void {
  const { requestId, traceId, method, url, userAgent, ipAddress } = context;
  Reflect.set(exception, 'context', {
    ...exception.context,
    requestId,
    ...(traceId !== undefined && { traceId }),
    method,
    url,
    ...(userAgent !== undefined && { userAgent }),
    ...(ipAddress !== undefined && { ipAddress }),
  });
}

function respond(res: Response, exception: BaseException, { logger, production }: ErrorHandlerOptions): void {
  if (res.headersSent) {
    if (!res.writableEnded) res.destroy();
    return;
  }
  try {
    for (const name of headersOfSuccess) if (res.hasHeader(name)) res.removeHeader(name);
    sendFailure(res, exception, production);
  } catch (failure) {
    logFailure(logger, failure, 'error rendering failed');
    respondAtLast(res);
  }
}

/** Details that cannot be written as JSON, or a header that is none: nothing of the exception is touched again. */
function respondAtLast(res: Response): void {
  if (res.headersSent) return void res.destroy();
  const timestamp = new Date().toISOString();
  sendJsonResponse(res, 500, { success: false, message: 'Internal Server Error', statusCode: 500, timestamp });
}
