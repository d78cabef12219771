import { parseArgs } from 'node:util';
import type { Variables } from '../../config/environment.ts';
import { handlersOf, routesOf } from '../../http/pipeline/routes-of.ts';
import { registeredPolicies, routersOn } from '../../loaders/mounted-routers.ts';
import { docsOf } from '../../openapi/documented.ts';
import type { Service } from '../../service.ts';
import { withLoadedService } from '../loaded-service.ts';
import { terminalTable } from '../terminal.ts';

/** A route as the list shows it. */
export interface ListedRoute {
  method: string;
  path: string;
  module: string;
  /** Schemes of which a caller needs one; empty where everybody may call. */
  callers: string[];
  /** What else the caller needs, all of it, such as `role admin`, `scope orders:read` or `guard ownsBasket`; a login has every scope. */
  needs: string[];
  /** Whether some callers with valid credentials are refused (403). */
  restricted: boolean;
  /** Whether everybody may call, and credentials only say who does. */
  optional: boolean;
  /** The model of the list policy by which it is read; undefined for others. */
  list: string | undefined;
}

/**
 * Lists the routes of the service in the order of their paths, with who may call them; `--json` for programs.
 *
 * @throws Error where a module cannot be loaded
 */
export async function routes(args: string[], env: Variables): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' } }, args });
  const listed = await withLoadedService(env, listRoutes);
  if (values.json) return console.log(JSON.stringify(listed, undefined, 2));
  const rows = listed.map((route) => [route.method, route.path, whoMayCall(route), route.list ?? '', route.module]);
  console.log(terminalTable(['method', 'path', 'callers', 'list', 'module'], rows));
}

/** `bearer or apiKey, role admin`; of a guard that refuses some, and has neither words for them nor a name, "not all". */
function whoMayCall({ callers, needs, restricted, optional }: ListedRoute): string {
  const credentials = [...(optional ? ['everybody'] : []), ...callers].join(' or ');
  return [credentials, ...(restricted && needs.length === 0 ? ['not all'] : needs)].join(', ');
}

/** The routes of a service whose modules are loaded, in the order of their paths. */
export function listRoutes({ app }: Service): ListedRoute[] {
  const lists = new Map(registeredPolicies(app).map(({ path, policy }) => [path, policy.model]));
  const found = routersOn(app).flatMap(({ module, prefix, router }) =>
    routesOf(router, prefix).map((route) => {
      const { before, own } = handlersOf(route);
      const { security, scopes, needs, statuses, optional } = docsOf([...before, ...own]);
      const list = route.method === 'GET' ? lists.get(route.path.replace(/\/(paginated|:id)$/, '')) : undefined;
      return {
        method: route.method,
        path: route.path,
        module,
        callers: [...security],
        needs: [...scopes.map((scope) => `scope ${scope}`), ...needs],
        restricted: statuses.includes(403),
        optional,
        list,
      };
    }),
  );
  return found.sort((a, b) => a.path.localeCompare(b.path) || a.method.localeCompare(b.method));
}
