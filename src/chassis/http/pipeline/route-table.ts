import type { IRoute, Request, RequestHandler } from 'express';
import { requestContextOf } from './request-context-of.ts';

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
// A router that a file exports is one object for all services, so each app has its own template for it.
const templates = new WeakMap<object, WeakMap<object, string>>();

/** Remembers the full template that a route has on an app, for `routeTemplate`. */
export function rememberTemplate(app: object, route: IRoute, template: string): void {
  const known = templates.get(app) ?? new WeakMap<object, string>();
  templates.set(app, known);
  known.set(route, template);
}

/** The full template of the route that serves a request; undefined while none matched. */
export function routeTemplate(request: Request): string | undefined {
  if (request.route === undefined) return undefined;
  // Routes that the chassis itself declares on the app have no prefix.
  return templates.get(request.app)?.get(request.route) ?? String(request.route.path);
}

/** Names what serves a request that no route takes, such as files below a path, for logs, spans and metrics. */
export function nameRoute(template: string): RequestHandler {
  return function setRoute(req, _res, next) {
    requestContextOf(req).route = template;
    next();
  };
}
