import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { toException } from '../errors/convert-error.ts';

/**
 * Wraps a handler so that what it throws or rejects with reaches the error handler (spec.md: Handling, rule 3), also
 * `undefined` and the string `route`, which Express itself would take for a signal.
 */
export function asyncHandler(handler: (req: Request, res: Response, next: NextFunction) => unknown): RequestHandler {
  return async function runHandler(req, res, next) {
    try {
      await handler(req, res, next);
    } catch (error) {
      next(error instanceof Error ? error : toException(error));
    }
  };
}
