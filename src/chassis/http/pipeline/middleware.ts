import type { IRoute, NextFunction, Request, RequestHandler, Response, Router } from 'express';
import { toException } from '../../errors/convert-error.ts';

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

/** Takes a step for some requests only. */
export function onlyIf(isFor: (req: Request) => boolean, step: RequestHandler): RequestHandler {
  return (req, res, next) => (isFor(req) ? step(req, res, next) : next());
}

/**
 * Takes a step for some paths only, e.g. a router that would compare all others with each of its routes.
 *
 * @param paths is asked about the path in lower case, because to Express capitals make no difference
 */
export function onlyAt(paths: RegExp, step: RequestHandler): RequestHandler {
  return (req, res, next) => (paths.test(req.path.toLowerCase()) ? step(req, res, next) : next());
}

/** A router, and what tells of a path below its prefix whether it may answer there. */
export interface RouterOfPaths {
  readonly router: Router;
  readonly paths: RegExp;
}

/**
 * Asks routers that stand at one path in turn, and those alone that may answer: a router that is entered and left takes a
 * turn of the event loop, so that a request would pay for every router that has nothing to do with it.
 */
export function askRouters(routers: readonly RouterOfPaths[]): RequestHandler {
  return function askInTurn(req, res, next) {
    const { path } = req;
    let index = 0;
    const ask = (error?: unknown): unknown => {
      if (error) return next(error);
      while (index < routers.length) {
        const { router, paths } = routers[index++] as RouterOfPaths;
        if (paths.test(path)) return router(req, res, ask);
      }
      return next();
    };
    ask();
  };
}

function run(step: RequestHandler, req: Request, res: Response, next: NextFunction): void {
  try {
    const outcome: unknown = step(req, res, next);
    if (outcome instanceof Promise) outcome.catch((error: unknown) => passError(error, next));
  } catch (error) {
    passError(error, next);
  }
}

const wrapped = new WeakSet<object>();

/**
 * Lets everybody in: `router.post('/login', publicAccess, …)`, or `router.use(publicAccess)` for all routes below it.
 * Written out, so that an open route is a decision that can be read.
 */
export const publicAccess: RequestHandler = Object.assign(
  (_req: Request, _res: Response, next: NextFunction): void => next(),
  { openapi: { security: [] } },
);

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
    const isSafe = isErrorHandler || layer.handle === publicAccess || wrapped.has(layer.handle);
    if (!isSafe) layer.handle = asyncHandler(layer.handle as RequestHandler);
  }
}
