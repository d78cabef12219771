import { basename } from 'node:path';
import type { IRoute } from 'express';
import { routesOf } from '../http/route-table.ts';
import type { AuthorDocs, DocumentedPath } from './author-docs.ts';
import { completeOperation } from './complete-operation.ts';
import { deepMerge, type Json } from './deep-merge.ts';
import type { DescribedResource } from './describe-resources.ts';
import { docsOf } from './documented.ts';
import type { QueryComponents } from './query-components.ts';
import { resourceOperation } from './resource-operations.ts';
import { documentedPath, type RouteSource } from './route-source.ts';

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
  for (const [path, documented] of docs.paths)
    problems.push(...unmounted(path, documented, { paths, resource, source }));
  return { paths, problems };
}

/** What the handlers before and of a route say of themselves, those of the whole router among them. */
function guardsOf({ router }: RouteSource, route: IRoute): ReturnType<typeof docsOf> {
  const shared = router.stack.filter((layer) => layer.route === undefined);
  return docsOf([...shared, ...route.stack].map(({ handle }) => handle));
}

function undocumented(method: string, path: string, { module, file }: RouteSource): string {
  return (
    `Expected an @openapi comment for ${method} ${path}, found none in ${module}/${basename(file)}; ` +
    'add one above the default export.'
  );
}

function unmounted(
  path: string,
  documented: DocumentedPath,
  {
    paths,
    resource,
    source,
  }: { paths: Record<string, Json>; resource: DescribedResource | undefined; source: RouteSource },
): string[] {
  const file = `${source.module}/${basename(source.file)}`;
  const lost = Object.keys(documented.operations)
    .filter((method) => !(method in (paths[path] ?? {})))
    .map(
      (method) =>
        `Expected a route for ${method.toUpperCase()} ${path}, which an @openapi comment of ${file} describes, ` +
        'found none; mount it or correct the comment.',
    );
  if (documented.resource === undefined) return lost;
  const found = resource && `${resource.record} at ${documentedPath(source.prefix, resource.path)}`;
  if (found === `${documented.resource} at ${path}`) return lost;
  return [
    ...lost,
    `Expected the resource ${documented.resource} at ${path}, as x-resource in ${file} says, ` +
      `found ${found ?? 'no resource router'}; correct one of the two.`,
  ];
}
