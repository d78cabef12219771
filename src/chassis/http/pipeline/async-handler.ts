import type { IRoute, NextFunction, Request, RequestHandler, Response } from 'express';
import { toException } from '../../errors/convert-error.ts';

const wrapped = new WeakSet<object>();

/**
 * Wraps a handler so that what it throws or rejects with reaches the error handler (spec.md: Handling, rule 3), also
 * `undefined` and the string `route`, which Express itself would take for a signal.
 */
export function asyncHandler(handler: (req: Request, res: Response, next: NextFunction) => unknown): RequestHandler {
  async function runHandler(req: Request, res: Response, next: NextFunction): Promise<void> {
    try {
      await handler(req, res, next);
    } catch (error) {
      passError(error, next);
    }
  }
  wrapped.add(runHandler);
  return Object.assign(runHandler, handler);
}

/** Hands a thrown value on as an error, which Express would take `undefined` and some strings not for. */
export function passError(error: unknown, next: NextFunction): void {
  next(error instanceof Error ? error : toException(error));
}

/** Wraps every handler of a route, however its author wrote it; error handlers stay as they are. */
export function wrapHandlers(route: IRoute): void {
  for (const layer of route.stack) {
    const isErrorHandler = layer.handle.length > 3;
    if (!isErrorHandler && !wrapped.has(layer.handle)) layer.handle = asyncHandler(layer.handle as RequestHandler);
  }
}
