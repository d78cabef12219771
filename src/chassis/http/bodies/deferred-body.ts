import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import { passError, publicAccess } from '../pipeline/middleware.ts';

const mark = Symbol('does not look at the body');
const readKey = Symbol('reads the body');
const bodyKey = Symbol('body');

/** Sets `req.body`; gives a promise only where that takes time. */
type ReadBody = () => Promise<void> | undefined;

type DeferredRequest = Request & { [readKey]?: ReadBody | undefined; [bodyKey]?: unknown };

/** Leaves a body to be read and parsed by the first handler that `readBodyFirst` has made. */
export function deferBody(req: DeferredRequest, read: ReadBody): void {
  req[readKey] = read;
}

/** Says of a handler that it never looks at the body: it runs before that is parsed, so that what it refuses costs no parsing. */
export function withoutBody<H extends RequestHandler>(handler: H): H {
  return Object.assign(handler, { [mark]: true });
}

/**
 * A handler that runs once a body that was left to it has been read and parsed; one of `withoutBody` stays as it is. Guards
 * are not made so: whom they refuse has nothing parsed, and who waits for `100 Continue` is refused before it sends anything.
 */
export function readBodyFirst(handler: RequestHandler): RequestHandler {
  if (handler === publicAccess || (handler as { [mark]?: boolean })[mark] === true) return handler;
  function runWithBody(req: DeferredRequest, res: Response, next: NextFunction): unknown {
    const read = req[readKey];
    if (read === undefined) return handler(req, res, next);
    req[readKey] = undefined;
    const reading = read();
    if (reading === undefined) return handler(req, res, next);
    return reading.then(() => handler(req, res, next)).catch((error: unknown) => passError(error, next));
  }
  return Object.assign(runWithBody, handler);
}

/**
 * Has `req.body` of an app's requests raise an error until the body is read. A guard that decides by it would take a body
 * that is there for none, and might let in what it is to refuse.
 */
export function guardBody(app: Express): void {
  Object.defineProperty(app.request, 'body', {
    configurable: true,
    get(this: DeferredRequest) {
      if (this[readKey] === undefined) return this[bodyKey];
      throw new InternalServerErrorException(
        `Expected nothing to look at req.body of ${this.method} ${this.path} before the guards have let the request in; decide by it in a handler behind them.`,
      );
    },
    set(this: DeferredRequest, body: unknown) {
      this[bodyKey] = body;
    },
  });
}
