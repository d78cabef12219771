import { basename, join } from 'node:path';
import type { Express } from 'express';
import type { ModuleConfig } from '../config/app-config.ts';
import { currentService } from '../context/current-service.ts';
import { addKnownRoute } from '../http/answers/not-found.ts';
import { keepRawBody, readsRawBody } from '../http/bodies/raw-bodies.ts';
import { readBodyFirst } from '../http/bodies/request-body.ts';
import { askRouters, type RouterOfPaths, wrapHandlers } from '../http/pipeline/middleware.ts';
import { rememberTemplate } from '../http/pipeline/request-pipeline.ts';
import { pathsOf } from '../http/pipeline/router-paths.ts';
import { type DeclaredRoute, handlersOf, replaceHandlers, routersOf, routesOf } from '../http/pipeline/routes-of.ts';
import { shapeOf, yieldToSpecific } from '../http/pipeline/yield-to-specific.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import { isGuard } from '../openapi/documented.ts';
import { describeRouter } from '../resource/resource-router.ts';
import type { Service } from '../service.ts';
import { type BoundPolicies, bindPolicies } from './bind-policies.ts';
import { explainFailure } from './explain-failure.ts';
import { makeRouters } from './make-routers.ts';
import { keepMounted, type MountedRouter } from './mounted-routers.ts';
import { refuseUnguarded } from './refuse-unguarded.ts';
import { selectRouteFiles } from './select-route-files.ts';

/**
 * Registers the routes of the enabled modules (spec.md: Registration rules 1 to 5). A route file that cannot be loaded
 * is logged and kept as a reason for not being ready; the others are still mounted. Of two routes that fit a request the
 * more specific one answers.
 *
 * @throws StartUpError when the configuration names a module twice, or a module or route file that is not there, when
 * two route files declare the same route, when a route does not say who may call it, or when a list policy refers to one that no module mounts
 */
export async function loadRoutes(app: Express, enabledModules: ModuleConfig[]): Promise<void> {
  const service = currentService();
  const { files, leftOut } = selectRouteFiles(enabledModules, service.modulesDirectory);
  const made: MountedRouter[] = [];
  for (const { module, file } of files) {
    made.push(...(await madeOf(service, module, join(service.modulesDirectory, module.name, file))));
  }
  const bound = bindPolicies(byPrefix(made, enabledModules), {
    modules: enabledModules,
    leftOut,
    failures: service.startUpReport.failures,
    fail: ({ module, file }, error) => addFailure(service, module, file, error),
  });
  refuseUnguarded(bound.routers);
  keepMounted(app, bound);
  service.policies = bound.policies;
  const routes = mountRouters(app, bound);
  service.startUpReport.addRoutes(
    routes.map(({ method, path }) => `${method} ${path}`),
    leftOut,
  );
}

/** The routers of each module in the order of its prefixes, of which the first is the one that other modules mean. */
function byPrefix(routers: readonly MountedRouter[], modules: readonly ModuleConfig[]): MountedRouter[] {
  const places = modules.flatMap(({ name, routesPrefix = '' }) =>
    [routesPrefix].flat().map((prefix) => `${name} ${prefix}`),
  );
  const placeOf = ({ module, prefix }: MountedRouter) => places.indexOf(`${module} ${prefix}`);
  return routers.toSorted((one, other) => placeOf(one) - placeOf(other));
}

async function madeOf(service: Service, module: ModuleConfig, file: string): Promise<MountedRouter[]> {
  try {
    return await makeRouters(module, file, service.container.cradle);
  } catch (caught) {
    addFailure(service, module.name, file, await explainFailure(caught, module.name, service));
    return [];
  }
}

function addFailure({ logger, startUpReport }: Service, module: string, file: string, error: unknown): void {
  startUpReport.addFailure({ loader: 'loadRoutes', module, file: basename(file), error });
  logger.error({ err: error, module, file }, 'loading routes failed');
}

function mountRouters(app: Express, { routers, policies }: BoundPolicies): DeclaredRoute[] {
  const routes: (DeclaredRoute & { from: string })[] = [];
  const mounted: (RouterOfPaths & { prefix: string })[] = [];
  for (const { module, file, prefix, router } of routers) {
    const from = `${module}/${basename(file)}`;
    for (const route of routesOf(router, prefix)) {
      refuseTwin(routes, { ...route, from });
      const { before, own } = handlersOf(route);
      if ([...before, ...own].some(readsRawBody)) keepRawBody(app, route);
      addKnownRoute(app, { method: route.method, path: route.path });
      rememberTemplate(app, route.route, route.path);
      wrapHandlers(route.route);
      routes.push({ ...route, from });
    }
    for (const { router: inner } of routersOf(router, prefix)) describeRouter(inner)?.readBy(policies);
    mounted.push({ prefix: prefix || '/', router, paths: pathsOf(router) });
    replaceHandlers(router, (handler) =>
      isGuard(handler) || readsRawBody(handler) ? handler : readBodyFirst(handler),
    );
  }
  for (const group of neighbours(mounted)) app.use(group[0].prefix, askRouters(group));
  yieldToSpecific(routes);
  return routes;
}

/** In their order, those with one prefix that follow each other together. */
function neighbours<T extends { prefix: string }>(routers: readonly T[]): [T, ...T[]][] {
  const groups: [T, ...T[]][] = [];
  for (const router of routers) {
    const last = groups.at(-1);
    if (last?.[0].prefix === router.prefix) last.push(router);
    else groups.push([router]);
  }
  return groups;
}

type FiledRoute = Pick<DeclaredRoute, 'method' | 'path'> & { from: string };

function refuseTwin(routes: readonly FiledRoute[], added: FiledRoute): void {
  const twin = routes.find(({ method, path }) => method === added.method && shapeOf(path) === shapeOf(added.path));
  if (!twin) return;
  throw new StartUpError(
    `Expected each route once, found ${twin.method} ${twin.path} in ${twin.from} and ${added.path} in ${added.from}; ` +
      `remove one${twin.from.split('/')[0] === added.from.split('/')[0] ? '' : ' or give the modules different prefixes'}.`,
  );
}
