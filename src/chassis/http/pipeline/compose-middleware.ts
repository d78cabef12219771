import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { passError } from './async-handler.ts';

/**
 * Makes one step of many, which run one after the other. Express's own way from one step to the next, which looks at paths,
 * costs more than most steps do. What a step throws or rejects with goes where its `next(error)` would.
 */
export function composeMiddleware(steps: readonly RequestHandler[]): RequestHandler {
  return steps.reduceRight<RequestHandler>(
    (rest, step) => (req, res, next) => {
      run(step, req, res, (signal?: unknown) => (signal ? next(signal) : run(rest, req, res, next)));
    },
    (_req, _res, next) => next(),
  );
}

/**
 * Takes a step for some paths only, e.g. a router that would compare all others with each of its routes.
 *
 * @param isPath gets the path in lower case, because to Express capitals make no difference
 */
export function onlyAt(isPath: (path: string) => boolean, step: RequestHandler): RequestHandler {
  return (req, res, next) => (isPath(req.path.toLowerCase()) ? step(req, res, next) : next());
}

function run(step: RequestHandler, req: Request, res: Response, next: NextFunction): void {
  try {
    const outcome: unknown = step(req, res, next);
    if (outcome instanceof Promise) outcome.catch((error: unknown) => passError(error, next));
  } catch (error) {
    passError(error, next);
  }
}
