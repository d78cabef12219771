import type { IRoute, Request, RequestHandler, Router } from 'express';
import { requestContextOf } from './request-context-of.ts';

/** One mounted route: its method and its full template, e.g. `/api/v1/products/:id`. */
export interface MountedRoute {
  method: string;
  path: string;
  module: string;
  /** The route file that declared it. */
  file: string;
}

const known = new WeakMap<object, { method: string; path: string }[]>();

/** Notes that an app answers a path, so that another method on it is a 405. */
export function addKnownRoute(app: object, route: { method: string; path: string }): void {
  const routes = known.get(app) ?? [];
  routes.push(route);
  known.set(app, routes);
}

/** All that was noted of an app. */
export function knownRoutes(app: object): readonly { method: string; path: string }[] {
  return known.get(app) ?? [];
}

// Express keeps the matched route on the request, also after an error, but resets baseUrl: so templates hang on routes.
const templates = new WeakMap<object, string>();

/** The routes that a router declares itself, each with its full template below `prefix`, one entry per method. */
export function routesOf(router: Router, prefix: string): { method: string; path: string; route: IRoute }[] {
  return router.stack
    .filter((layer) => layer.route !== undefined)
    .flatMap((layer) => {
      const route = layer.route as unknown as IRoute & { methods: Record<string, boolean> };
      const paths: unknown[] = Array.isArray(route.path) ? route.path : [route.path];
      const methods = Object.keys(route.methods).filter((method) => route.methods[method] && method !== '_all');
      return paths.flatMap((path) =>
        methods.map((method) => ({ method: method.toUpperCase(), path: joinPath(prefix, String(path)), route })),
      );
    });
}

/** Remembers the full template of a route, for `routeTemplate`. */
export function rememberTemplate(route: IRoute, template: string): void {
  templates.set(route, template);
}

/** The full template of the route that serves a request; undefined while none matched. */
export function routeTemplate(request: Request): string | undefined {
  if (request.route === undefined) return undefined;
  // Routes that the chassis itself declares on the app have no prefix.
  return templates.get(request.route) ?? String(request.route.path);
}

/** Names what serves a request that no route takes, such as files below a path, for logs, spans and metrics. */
export function nameRoute(template: string): RequestHandler {
  return function setRoute(req, _res, next) {
    requestContextOf(req).route = template;
    next();
  };
}

function joinPath(prefix: string, path: string): string {
  const joined = `${prefix.replace(/\/$/, '')}${path.startsWith('/') ? path : `/${path}`}`;
  return joined.length > 1 ? joined.replace(/\/$/, '') : joined;
}
