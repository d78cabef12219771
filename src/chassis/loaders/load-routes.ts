import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Express, IRoute, Router } from 'express';
import type { ModuleConfig } from '../config/app-config.ts';
import { currentService } from '../context/current-service.ts';
import { explainMissingDependency } from '../di/missing-dependency.ts';
import { wrapHandlers } from '../http/pipeline/middleware.ts';
import { addKnownRoute, type MountedRoute, rememberTemplate } from '../http/pipeline/route-table.ts';
import { isRouter, routesOf } from '../http/pipeline/routes-of.ts';
import { StartUpError } from '../lifecycle/start-up-error.ts';
import type { RouteFactory } from '../resource/define-routes.ts';
import type { Service } from '../service.ts';
import { selectRouteFiles } from './select-route-files.ts';

/** A route file that is mounted: its router and where it stands. */
export interface MountedRouter {
  module: string;
  /** Absolute path of the route file. */
  file: string;
  prefix: string;
  router: Router;
}

const mountedRouters = new WeakMap<object, MountedRouter[]>();

/**
 * Registers the routes of the enabled modules (spec.md: Registration rules 1 to 5). A route file that cannot be loaded
 * is logged and kept as a reason for not being ready; the others are still mounted.
 *
 * @throws StartUpError when the configuration names a module twice, or a module or route file that is not there, or
 * when two route files declare the same route
 */
export async function loadRoutes(app: Express, enabledModules: ModuleConfig[]): Promise<void> {
  const service = currentService();
  const { modulesDirectory, startUpReport } = service;
  const { files, leftOut } = selectRouteFiles(enabledModules, modulesDirectory);
  const routers: MountedRouter[] = [];
  const routes: MountedRoute[] = [];
  mountedRouters.set(app, routers);
  for (const { module, file } of files) {
    const prefix = module.routesPrefix ?? '';
    const router = await makeRouter(service, module.name, join(modulesDirectory, module.name, file));
    if (router === undefined) continue;
    for (const { method, path, route } of routesOf(router, prefix)) {
      addRoute(routes, { method, path, module: module.name, file: basename(file) }, route);
      addKnownRoute(app, { method, path });
    }
    routers.push({ module: module.name, file: join(modulesDirectory, module.name, file), prefix, router });
    app.use(prefix || '/', router);
  }
  startUpReport.addRoutes(
    routes.map(({ method, path }) => `${method} ${path}`),
    leftOut,
  );
}

/** The route files mounted on an app, in the order of mounting. */
export function routersOn(app: Express): readonly MountedRouter[] {
  return mountedRouters.get(app) ?? [];
}

async function makeRouter(service: Service, module: string, file: string): Promise<Router | undefined> {
  const { container, logger, startUpReport } = service;
  try {
    const { default: routes } = await import(pathToFileURL(file).href);
    if (isRouter(routes)) return routes;
    if (typeof routes === 'function') return await (routes as RouteFactory)(container.cradle);
    throw new StartUpError(
      `Expected the default export of ${file} to be a router or defineRoutes((cradle) => router), ` +
        `found ${routes === undefined ? 'none' : typeof routes}; export one or rename the file.`,
    );
  } catch (caught) {
    const error = explainMissingDependency(caught, container);
    startUpReport.addFailure({ loader: 'loadRoutes', module, file: basename(file), error });
    logger.error({ err: error, module, file }, 'loading routes failed');
    return undefined;
  }
}

function addRoute(routes: MountedRoute[], added: MountedRoute, route: IRoute): void {
  const twin = routes.find(({ method, path }) => method === added.method && path === added.path);
  if (twin) {
    throw new StartUpError(
      `Expected each route once, found ${added.method} ${added.path} in ${twin.module}/${twin.file} and in ` +
        `${added.module}/${added.file}; remove one or give the modules different prefixes.`,
    );
  }
  rememberTemplate(route, added.path);
  wrapHandlers(route);
  routes.push(added);
}
