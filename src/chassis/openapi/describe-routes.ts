import type { IRoute } from 'express';
import { routesOf } from '../http/pipeline/route-table.ts';
import type { AuthorDocs } from './author-docs.ts';
import { completeOperation } from './complete-operation.ts';
import { deepMerge, type Json } from './deep-merge.ts';
import type { DescribedResource } from './describe-resources.ts';
import { docsOf } from './documented.ts';
import type { QueryComponents } from './query-components.ts';
import { resourceOperation } from './resource-operations.ts';
import { documentedPath, type RouteSource } from './route-source.ts';
import { misreadResponses, undocumented, unmounted, unmountedResource } from './undocumented.ts';

/** The paths of one route file, and where its comments and its routes say different things. */
export interface DescribedRoutes {
  paths: Record<string, Json>;
  problems: string[];
}

/** Describes every route that a route file mounts: standard routes by themselves, with what the author wrote on top. */
export function describeRoutes(
  source: RouteSource,
  docs: AuthorDocs,
  resource: DescribedResource | undefined,
  components: QueryComponents,
): DescribedRoutes {
  const paths: Record<string, Json> = {};
  const problems: string[] = [];
  const written = resource && docs.paths.get(documentedPath(source.prefix, resource.path));
  for (const { method, path, route } of routesOf(source.router, '')) {
    const template = documentedPath(source.prefix, path);
    const name = method.toLowerCase();
    const standard = resource && resourceOperation(resource, { method, path }, components);
    const author = docs.paths.get(template);
    if (!standard && !author?.operations[name]) problems.push(undocumented(method, template, source));
    const operation = completeOperation(
      [standard && written?.defaults, author?.defaults, author?.operations[name]].reduce(
        deepMerge,
        standard ?? {},
      ) as Json,
      { method: name, path: template, module: source.module, guards: guardsOf(source, route), id: resource?.id },
    );
    paths[template] = { ...paths[template], ...author?.item, [name]: operation };
  }
  for (const [path, documented] of docs.paths) {
    const mounted = Object.keys(paths[path] ?? {});
    problems.push(...unmounted(path, documented, mounted, source), ...misreadResponses(path, documented, source));
    problems.push(...unmountedResource(path, documented, resource, source));
  }
  return { paths, problems };
}

/** What the handlers before and of a route say of themselves, those of the whole router among them. */
function guardsOf({ router }: RouteSource, route: IRoute): ReturnType<typeof docsOf> {
  const shared = router.stack.filter((layer) => layer.route === undefined);
  return docsOf([...shared, ...route.stack].map(({ handle }) => handle));
}
