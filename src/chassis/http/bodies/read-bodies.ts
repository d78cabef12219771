import { isUtf8 } from 'node:buffer';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { ServiceUnavailableException, UnsupportedMediaTypeException } from '../../errors/exceptions.ts';
import { BodyBudget } from './body-budget.ts';
import { refuseUnsafeJson } from './refuse-unsafe-json.ts';
import { hasBody, mediaType, methodsWithBody, readingOf } from './request-body.ts';
import { parseUrlEncoded } from './url-encoded.ts';

/** How much of a body the service reads. */
export interface ParseBodiesOptions {
  /** In bytes, after decompression. */
  limitBytes: number;
  /** All bodies together that are still coming in, in bytes. Default 64 MB. */
  budgetBytes?: number;
}

/**
 * Parses JSON and URL-encoded bodies into `req.body` (spec.md: Endpoints). Multipart bodies pass through to the routes
 * that take uploads. Raises 400 for a body that is not valid JSON or UTF-8, nests too deep or holds a key such as
 * `__proto__`, 413 for one that is too large, 415 for POST, PUT and PATCH with a type, character set or encoding that the
 * service does not read, and 503 for the oldest that are coming in while all together hold more than the budget.
 */
export function parseBodies({ limitBytes, budgetBytes = 67_108_864 }: ParseBodiesOptions): RequestHandler {
  const budget = new BodyBudget(budgetBytes);
  const any = () => true;
  const json = express.json({ limit: limitBytes, type: any, strict: false, verify: refuseBrokenText });
  const form = express.text({ limit: limitBytes, type: any, verify: refuseBrokenText });
  return function parseBody(req, res, next) {
    if (!hasBody(req)) return next();
    const type = mediaType(req);
    const reading = readingOf(type);
    if (reading === 'json') read(json, refuseUnsafeBody, req, res, next);
    else if (reading === 'form') read(form, decodeForm, req, res, next);
    else if (type.startsWith('multipart/') || !methodsWithBody.has(req.method)) next();
    else next(unreadable(type));
  };

  function read(parser: RequestHandler, complete: Complete, req: Request, res: Response, next: NextFunction): void {
    let refused = false;
    const end = budget.watch(req, req.headers['content-encoding'] === undefined ? 0 : limitBytes, () => {
      refused = true;
      next(tooManyBodies());
    });
    parser(req, res, (error?: unknown) => {
      end();
      if (!refused) finish(req, next, error, complete);
    });
  }
}

type Complete = (req: Request) => void;

function tooManyBodies(): ServiceUnavailableException {
  const headers = { 'Retry-After': '1', Connection: 'close' };
  return new ServiceUnavailableException('Too many request bodies are coming in; try again', undefined, { headers });
}

function finish(req: Request, next: NextFunction, error: unknown, complete: Complete): void {
  let failure = error;
  try {
    if (!failure) complete(req);
  } catch (thrown) {
    failure = thrown;
  }
  next(failure);
}

function refuseUnsafeBody(req: Request): void {
  refuseUnsafeJson(req.body);
}

function decodeForm(req: Request): void {
  req.body = parseUrlEncoded(typeof req.body === 'string' ? req.body : '');
}

/** Decoding would put U+FFFD in place of what is no UTF-8, and store what nobody sent. */
function refuseBrokenText(_req: unknown, _res: unknown, body: Buffer, charset: string): void {
  if (!/^utf-?8$/.test(charset) || isUtf8(body)) return;
  // body-parser gives it a status of its own; convertHttpError knows it by its type.
  throw Object.assign(new Error('The request body is not valid UTF-8'), { type: 'entity.text.invalid' });
}

function unreadable(type: string): UnsupportedMediaTypeException {
  const found = type === '' ? 'no Content-Type' : JSON.stringify(type.slice(0, 100));
  return new UnsupportedMediaTypeException(
    `Expected a body of type application/json or application/x-www-form-urlencoded, found ${found}`,
  );
}
