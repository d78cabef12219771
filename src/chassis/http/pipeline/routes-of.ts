import type { IRoute, Request, RequestHandler, Router } from 'express';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import { composeMiddleware } from './middleware.ts';

/** One method of a route, and where it stands in its route file. */
export interface DeclaredRoute {
  method: string;
  /** The full template, e.g. `/api/v1/products/:id`. */
  path: string;
  route: IRoute;
  /** The router that declares it: that of the route file, or one mounted inside. */
  router: Router;
  /** What `use` of any of these routers runs before the route's own handlers, such as guards. */
  before: readonly unknown[];
}

/** What Express keeps of each `use` and of each route; test/house/internals.test.ts holds it to that. */
interface Layer {
  handle: unknown;
  rawPath: unknown;
  route?: IRoute & { methods: Record<string, boolean> };
}

const allMethods = 'ALL';

interface Step {
  path: string;
  handle: unknown;
}

/**
 * The routes that a router declares, also in the routers mounted inside it, each with its full template below `prefix`:
 * one entry per method, in the order in which Express tries them.
 */
export function routesOf(router: Router, prefix: string): DeclaredRoute[] {
  return declaredIn(router, prefix, []).filter(({ method }) => method !== allMethods);
}

/** As `routesOf`, and with method `ALL` what `router.all` declares. */
export function everyRouteOf(router: Router, prefix: string): DeclaredRoute[] {
  return declaredIn(router, prefix, []);
}

/** The handlers that a request meets on its way through a route: those of the routers around it, then its own for the method. */
export function handlersOf({ before, route, method }: DeclaredRoute): { before: readonly unknown[]; own: unknown[] } {
  const steps = route.stack.filter((step) => step.method === undefined || step.method.toUpperCase() === method);
  return { before, own: steps.map(({ handle }) => handle) };
}

/** A router and all that are mounted inside it, each with the template that it is mounted at below `prefix`. */
export function routersOf(router: Router, prefix: string): { router: Router; path: string }[] {
  const inside = layersOf(router).flatMap(({ handle, rawPath }) =>
    isRouter(handle) ? templatesOf(rawPath, prefix).flatMap((path) => routersOf(handle, path)) : [],
  );
  return [{ router, path: prefix }, ...inside];
}

/** Puts another handler in the place of each, in `use` and in routes, also of routers inside. Those for errors stay. */
export function replaceHandlers(router: Router, replace: (handler: RequestHandler) => RequestHandler): void {
  for (const layer of layersOf(router)) {
    if (isRouter(layer.handle)) replaceHandlers(layer.handle, replace);
    else for (const step of layer.route?.stack ?? [layer]) replaceHandle(step, replace);
  }
}

/**
 * What stands behind a step of the route that serves a request, as one step, which can be run more than once.
 *
 * @throws InternalServerErrorException when the step is none of the route's own, such as one of `router.use`
 */
export function handlersBehind(req: Request, isStep: (handler: unknown) => boolean): RequestHandler {
  const stack: IRoute['stack'] = req.route?.stack ?? [];
  const own = stack.filter(({ method }) => method === undefined || method.toUpperCase() === req.method);
  const index = own.findIndex(({ handle }) => isStep(handle));
  if (index !== -1) return composeMiddleware(own.slice(index + 1).map(({ handle }) => handle as RequestHandler));
  throw new InternalServerErrorException(
    `Expected the step among the handlers of the route ${req.method} ${req.path}; name it there, not in router.use() or inside another step.`,
  );
}

/** A router is itself a function; only a router has a stack. */
export function isRouter(value: unknown): value is Router {
  return typeof value === 'function' && Array.isArray((value as { stack?: unknown }).stack);
}

/** What stands before a route is collected on the way, across routers, as Express runs it. */
function declaredIn(router: Router, prefix: string, steps: Step[]): DeclaredRoute[] {
  return layersOf(router).flatMap(({ handle, rawPath, route }) => {
    const paths = templatesOf(route ? route.path : rawPath, prefix);
    if (route) {
      return paths.flatMap((path) =>
        methodsOf(route).map((method) => ({ method, path, route, router, before: handlesBefore(path, steps) })),
      );
    }
    if (isRouter(handle)) return paths.flatMap((path) => declaredIn(handle, path, steps));
    steps.push(...paths.map((path) => ({ path, handle })));
    return [];
  });
}

function replaceHandle(step: { handle: unknown }, replace: (handler: RequestHandler) => RequestHandler): void {
  const handler = step.handle as RequestHandler;
  if (handler.length < 4) step.handle = replace(handler);
}

/** What a router runs, in its order. */
export function layersOf(router: Router): Layer[] {
  return router.stack as unknown as Layer[];
}

function methodsOf({ methods }: NonNullable<Layer['route']>): string[] {
  return Object.keys(methods)
    .filter((method) => methods[method])
    .map((method) => (method === '_all' ? allMethods : method.toUpperCase()));
}

function handlesBefore(path: string, steps: readonly Step[]): unknown[] {
  const runs = ({ path: start }: Step) => start === '/' || path === start || path.startsWith(`${start}/`);
  return steps.filter(runs).map(({ handle }) => handle);
}

/** Paths as a layer was given them, each below `prefix`. */
export function templatesOf(paths: unknown, prefix: string): string[] {
  return [paths].flat().map((path) => joinPath(prefix, String(path)));
}

/** A path as Express compares it, which passes over slashes at the end of what it was given. */
export function withoutEndSlashes(path: string): string {
  return path.replace(/(?<!\/)\/+$/, '');
}

function joinPath(prefix: string, path: string): string {
  return withoutEndSlashes(`${withoutEndSlashes(prefix)}${path.startsWith('/') ? path : `/${path}`}`) || '/';
}
