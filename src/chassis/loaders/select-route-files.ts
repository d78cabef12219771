import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ModuleConfig } from '../config/app-config.ts';
import { sourceExtension } from '../config/layout.ts';
import { type SkippedRoute, StartUpError } from '../lifecycle/start-up-report.ts';

const routeFile = new RegExp(`\\.routes\\${sourceExtension}$`);

/** Route files to load, each with its module and its path below the module's directory, and those left out. */
interface RouteFileSelection {
  files: { module: ModuleConfig; file: string }[];
  leftOut: SkippedRoute[];
}

/**
 * Finds the route files of all enabled modules and applies `includeRoutes` and `excludeRoutes`
 * (spec.md: Registration rules 1, 2, 3 and 5).
 *
 * @param directory absolute path of the directory that holds the modules
 * @throws StartUpError when the configuration names something that is not there
 */
export function selectRouteFiles(modules: readonly ModuleConfig[], directory: string): RouteFileSelection {
  const selection: RouteFileSelection = { files: [], leftOut: [] };
  for (const module of modules) {
    refuseDuplicate(module, modules);
    if (!module.enabled) {
      selection.leftOut.push({ module: module.name, file: '*', reason: 'disabled' });
      continue;
    }
    const found = routeFilesOf(module, directory);
    const included = namedFiles(module, 'includeRoutes', found);
    const excluded = namedFiles(module, 'excludeRoutes', found);
    for (const file of found) {
      if (included && !included.has(file)) selection.leftOut.push(leave(module, file, 'not in includeRoutes'));
      else if (excluded?.has(file)) selection.leftOut.push(leave(module, file, 'in excludeRoutes'));
      else selection.files.push({ module, file });
    }
  }
  return selection;
}

function refuseDuplicate(module: ModuleConfig, modules: readonly ModuleConfig[]): void {
  const times = modules.filter(({ name }) => name === module.name).length;
  if (times === 1) return;
  throw new StartUpError(
    `Expected each module once in AppConfig.modules, found ${module.name} ${times} times; ` +
      'keep one entry and name its route files in includeRoutes.',
  );
}

function routeFilesOf(module: ModuleConfig, directory: string): string[] {
  const path = join(directory, module.name);
  if (!existsSync(path)) {
    const present = existsSync(directory) ? readdirSync(directory).join(', ') : 'no such directory';
    throw new StartUpError(
      `Expected a directory ${path} for module ${module.name}, found none (in ${directory}: ${present || 'nothing'}); ` +
        'create it, correct the name, or set enabled to false.',
    );
  }
  return (readdirSync(path, { recursive: true }) as string[]).filter((file) => routeFile.test(file)).sort();
}

function namedFiles(module: ModuleConfig, option: 'includeRoutes' | 'excludeRoutes', found: readonly string[]) {
  return (
    module[option] &&
    new Set(
      module[option].map((name) => {
        const file = found.find((candidate) => shortName(candidate) === shortName(name));
        if (file !== undefined) return file;
        throw new StartUpError(
          `Expected a route file for "${name}" in ${option} of module ${module.name}, found ` +
            `${found.map(shortName).join(', ') || 'no route files'}; correct the name or remove it.`,
        );
      }),
    )
  );
}

/** `user`, `user.routes`, `user.routes.ts` and `user.routes.js` all name the same file. */
function shortName(file: string): string {
  return basename(file)
    .replace(/\.(ts|js)$/, '')
    .replace(/\.routes$/, '');
}

function leave(module: ModuleConfig, file: string, reason: SkippedRoute['reason']): SkippedRoute {
  return { module: module.name, file, reason };
}
