import { basename } from 'node:path';
import { type DeclaredRoute, everyRouteOf, handlersOf } from '../http/pipeline/routes-of.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import { namesCallers } from '../openapi/documented.ts';
import { describeRouter } from '../resource/resource-router.ts';
import type { MountedRouter } from './mounted-routers.ts';

/**
 * Refuses route files with a route that does not say who may call it (docs/decisions/0024): neither a guard nor
 * `publicAccess` stands before its handler, in the route or by `use` of a router around it.
 *
 * @throws StartUpError with all such routes
 */
export function refuseUnguarded(routers: readonly MountedRouter[]): void {
  const open = routers.flatMap(({ module, file, prefix, router }) =>
    everyRouteOf(router, prefix)
      .filter((route) => !isGuarded(route))
      .map(({ method, path }) => `\n  ${method} ${path} in ${module}/${basename(file)}`),
  );
  if (open.length === 0) return;
  throw new StartUpError(
    `Expected each route of a module to say who may call it, found ${open.length} that does not:${open.join('')}\n` +
      "Put a guard before the handler, such as auth.user(), or publicAccess where everybody may call it: router.get('/path', publicAccess, handler), " +
      'or router.use(publicAccess) for all routes that follow. A guard that is not known as one says so by ' +
      "documented(guard, { security: ['bearer'] }).",
  );
}

function isGuarded(declared: DeclaredRoute): boolean {
  if (describeRouter(declared.router)?.routes.has(declared.route)) return true;
  const { before, own } = handlersOf(declared);
  // What stands behind the handler guards nothing; a single handler may ask for credentials itself.
  const ahead = own.length > 1 ? own.slice(0, -1) : own;
  return [...before, ...ahead].some(namesCallers);
}
