import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, NextFunction, Request, Response } from 'express';
import { errorBody } from '../errors/error-body.ts';
import { BadRequestException, type BaseException, InternalServerErrorException } from '../errors/exceptions.ts';
import { logger } from '../telemetry/logger.ts';
import { sendJsonResponse } from './responses.ts';

/**
 * An app as a listener of `createServer`. Express hands a request whose target it cannot parse, such as `http://[`, to
 * no step at all and would answer it with an HTML page; here it gets a 400 in the one error body, and what the error
 * handler of the app passed on gets a 500.
 */
export function requestListener(app: Express): RequestListener {
  const handle = app as unknown as (req: IncomingMessage, res: ServerResponse, next: NextFunction) => void;
  return (req, res) => handle(req, res, (error?: unknown) => answer(res as Response, req as Request, error));
}

function answer(res: Response, req: Request, error: unknown): void {
  const exception: BaseException = error
    ? new InternalServerErrorException(undefined, undefined, { cause: error })
    : new BadRequestException('The request target is not a valid URL');
  const requestId = res.getHeader('X-Request-Id') ?? randomUUID();
  logger()[error ? 'error' : 'warn']({ requestId, method: req.method, err: error }, exception.message);
  if (res.headersSent) return void res.destroy();
  res.setHeader('X-Request-Id', requestId);
  sendJsonResponse(res, exception.statusCode, errorBody(exception, true));
}
