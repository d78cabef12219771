import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { passError } from '../pipeline/middleware.ts';

const continueKey = Symbol('waits for 100 Continue');
const readKey = Symbol('reads the body');

type WaitingRequest = IncomingMessage & { [continueKey]?: boolean };
type DeferredRequest = Request & { [readKey]?: (() => Promise<void>) | undefined };

/** Notes whether the client sends the body of a request only once it is told to go on, which it has not been. */
export function expectContinue(req: WaitingRequest, waits: boolean): void {
  req[continueKey] = waits;
}

/** What `expectContinue` noted last. */
export function waitsForContinue(req: WaitingRequest): boolean {
  return req[continueKey] === true;
}

/** Leaves a body to be read by the first handler that `readBodyFirst` has made. */
export function deferBody(req: DeferredRequest, read: () => Promise<void>): void {
  req[readKey] = read;
}

/**
 * A handler that runs once a body that was left to it has been read. Guards stay as they are, so that a client that waits
 * for `100 Continue` is refused before it sends anything.
 */
export function readBodyFirst(handler: RequestHandler): RequestHandler {
  function runWithBody(req: DeferredRequest, res: Response, next: NextFunction): unknown {
    const read = req[readKey];
    if (read === undefined) return handler(req, res, next);
    req[readKey] = undefined;
    return read()
      .then(() => handler(req, res, next))
      .catch((error: unknown) => passError(error, next));
  }
  return Object.assign(runWithBody, handler);
}
