import { type DeclaredRoute, routesOf } from '../http/pipeline/routes-of.ts';
import type { AuthorDocs } from './author-docs.ts';
import { completeOperation } from './complete-operation.ts';
import { deepMerge, type Json } from './deep-merge.ts';
import type { DescribedResource } from './describe-resources.ts';
import { docsOf, type SecurityScheme } from './documented.ts';
import type { QueryComponents } from './query-components.ts';
import { resourceOperation } from './resource-operations.ts';
import { documentedPath, type RouteSource } from './route-source.ts';
import { misreadResponses, undocumented, unmounted, unmountedResource } from './undocumented.ts';

/** The paths of one route file, and where its comments and its routes say different things. */
interface DescribedRoutes {
  paths: Record<string, Json>;
  problems: string[];
  /** The credentials that their guards ask for. */
  schemes: Record<string, SecurityScheme>;
}

/** What a guard asks for that names a scheme and does not say what it is. */
const bearerScheme: SecurityScheme = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };

/** Describes every route that a route file mounts: standard routes by themselves, with what the author wrote on top. */
export function describeRoutes(
  source: RouteSource,
  docs: AuthorDocs,
  resources: readonly DescribedResource[],
  components: QueryComponents,
): DescribedRoutes {
  const paths: Record<string, Json> = {};
  const problems: string[] = [];
  const schemes: Record<string, SecurityScheme> = {};
  for (const declared of routesOf(source.router, '')) {
    const { method, path } = declared;
    const { resource, standard } = standardOperation(resources, declared, components);
    const template = documentedPath(source.prefix, path);
    const name = method.toLowerCase();
    const author = docs.paths.get(template);
    const written = resource && docs.paths.get(documentedPath(source.prefix, resource.path));
    if (!standard && !author?.operations[name]) problems.push(undocumented(method, template, source));
    const guards = guardsOf(declared);
    for (const scheme of guards.security) schemes[scheme] = guards.schemes[scheme] ?? bearerScheme;
    const operation = completeOperation(
      [standard && written?.defaults, author?.defaults, author?.operations[name]].reduce(
        deepMerge,
        standard ?? {},
      ) as Json,
      { method: name, path: template, module: source.module, guards, id: resource?.id },
    );
    paths[template] = { ...paths[template], ...author?.item, [name]: operation };
  }
  for (const [path, documented] of docs.paths) {
    const mounted = Object.keys(paths[path] ?? {});
    problems.push(...unmounted(path, documented, mounted, source), ...misreadResponses(path, documented, source));
    problems.push(...unmountedResource(path, documented, resources, source));
  }
  return { paths, problems, schemes };
}

/** The resource that a route belongs to, and its operation where the route is one of the standard ones. */
function standardOperation(
  resources: readonly DescribedResource[],
  { router, method, path }: DeclaredRoute,
  components: QueryComponents,
): { resource?: DescribedResource; standard?: Json | undefined } {
  const own = resources.filter((resource) => resource.router === router);
  const found = own.find(({ path: start }) => path === start || path.startsWith(`${start}/`)) ?? own[0];
  return found ? { resource: found, standard: resourceOperation(found, { method, path }, components) } : {};
}

/** What the handlers before and of a route say of themselves, those of the routers around it among them. */
function guardsOf({ before, route }: DeclaredRoute): ReturnType<typeof docsOf> {
  return docsOf([...before, ...route.stack.map(({ handle }) => handle)]);
}
