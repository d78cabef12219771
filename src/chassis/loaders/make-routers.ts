import type { ModuleConfig } from '../config/app-config.ts';
import { importFile } from '../config/layout.ts';
import { isRouter } from '../http/pipeline/routes-of.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import type { RouteFactory } from '../resource/resource-router.ts';
import type { MountedRouter } from './mounted-routers.ts';

/**
 * Makes the routers of a route file: one below each prefix of its module, or below those that the file names.
 *
 * @param file absolute path
 * @throws StartUpError for a default export that makes no router, or one for a prefix that the module does not have
 */
export async function makeRouters(
  module: ModuleConfig,
  file: string,
  cradle: Slipway.Cradle,
): Promise<MountedRouter[]> {
  const { default: routes } = (await importFile(file)) as { default?: unknown };
  const prefixes = [module.routesPrefix ?? ''].flat();
  if (isRouter(routes) && prefixes.length === 1) {
    return [{ module: module.name, file, prefix: prefixes[0] as string, router: routes }];
  }
  if (isRouter(routes) || typeof routes !== 'function') throw noFactory(file, routes, prefixes);
  const factory = routes as RouteFactory;
  const wanted = factory.prefixes ?? prefixes;
  const unknown = wanted.find((prefix) => !prefixes.includes(prefix));
  if (unknown !== undefined) {
    throw new StartUpError(
      `Expected a prefix of module ${module.name} (${prefixes.join(', ')}) in the defineRoutes() of ${file}, found ${unknown}; ` +
        'correct it, or add it to routesPrefix of the module in AppConfig.',
    );
  }
  const made: MountedRouter[] = [];
  for (const prefix of wanted) made.push({ module: module.name, file, prefix, router: await factory(cradle) });
  return made;
}

function noFactory(file: string, found: unknown, prefixes: readonly string[]): StartUpError {
  const what = found === undefined ? 'none' : isRouter(found) ? 'one router' : typeof found;
  if (prefixes.length > 1) {
    return new StartUpError(
      `Expected the default export of ${file} to be defineRoutes((cradle) => router), which makes a router for each of ${prefixes.join(', ')}, ` +
        `found ${what}; export one.`,
    );
  }
  return new StartUpError(
    `Expected the default export of ${file} to be a router or defineRoutes((cradle) => router), found ${what}; ` +
      'export one or rename the file.',
  );
}
