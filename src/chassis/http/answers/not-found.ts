import { type Request, type RequestHandler, type Response, Router } from 'express';
import { MethodNotAllowedException, NotFoundException } from '../../errors/exceptions.ts';
import { requestContextOf } from '../pipeline/request-context-of.ts';
import { pathsOfTemplates } from '../pipeline/router-paths.ts';

const maximumPathLength = 200;

/** A route as it is mounted: an upper-case method and a full path template. */
export interface KnownRoute {
  readonly method: string;
  readonly path: string;
}

const known = new WeakMap<object, KnownRoute[]>();

/** Notes that an app answers a path, so that another method on it is a 405. */
export function addKnownRoute(app: object, route: KnownRoute): void {
  const routes = known.get(app) ?? [];
  routes.push(route);
  known.set(app, routes);
}

/** All that was noted of an app. */
export function knownRoutes(app: object): readonly KnownRoute[] {
  return known.get(app) ?? [];
}

/**
 * Answers what no route took: 404, or 405 with `Allow` where the path has routes for other methods.
 */
export function notFound(routes: readonly KnownRoute[]): RequestHandler {
  // Made when a method is first refused: each start would take three milliseconds longer.
  let lookup: Router | undefined;
  const paths = pathsOfTemplates(routes.map(({ path }) => path));
  return function refuse(req, res, next) {
    if (!paths.test(req.path)) return next(unknownRoute(req));
    lookup ??= methodLookup(routes);
    lookup(req, res, (error?: unknown) => {
      if (error) return next(error);
      const allow = allowedMethods(res);
      if (allow === undefined) return next(unknownRoute(req));
      const message = `${shortPath(req)} does not take ${req.method}, only ${allow}`;
      next(new MethodNotAllowedException(message, undefined, { headers: { Allow: allow }, stack: false }));
    });
  };
}

function unknownRoute(req: Request): NotFoundException {
  return new NotFoundException(`No route ${req.method} ${shortPath(req)}`, undefined, { stack: false });
}

/** As the log has it: of a message only what looks like an assignment is masked. */
function shortPath(req: Request): string | undefined {
  return requestContextOf(req).url.split('?', 1)[0]?.slice(0, maximumPathLength);
}

/** A router of its own, so that a path matches here exactly when it matches where it is mounted. */
function methodLookup(routes: readonly KnownRoute[]): Router {
  const lookup = Router();
  for (const [path, found] of Map.groupBy(routes, (route) => route.path)) {
    const methods = found.map(({ method }) => method);
    if (methods.includes('GET')) methods.push('HEAD');
    lookup.all(path, (_req, res, next) => {
      res.locals.allowedMethods = [...(res.locals.allowedMethods ?? []), ...methods];
      next();
    });
  }
  return lookup;
}

function allowedMethods(res: Response): string | undefined {
  const methods: string[] | undefined = res.locals.allowedMethods;
  return methods && [...new Set(methods)].sort().join(', ');
}
