import { readAuthorDocs } from './author-docs.ts';
import { operationId } from './complete-operation.ts';
import { deepMerge, isJson, type Json } from './deep-merge.ts';
import { describeResources } from './describe-resources.ts';
import { describeRoutes } from './describe-routes.ts';
import { errorSchemas, failureComponents } from './failure-responses.ts';
import { QueryComponents } from './query-components.ts';
import type { RouteSource } from './route-source.ts';
import type { SchemaIds } from './schema-components.ts';
import { placeSchemas } from './schema-variants.ts';

/** What the document says of the service as a whole (spec.md: Loaders, loadOpenApi). */
export interface ApiInfo {
  title: string;
  version: string;
  description: string;
  /** The one server entry, e.g. `/`. */
  serverUrl: string;
}

/** An OpenAPI document, and where comments, routes and schemas contradict each other. */
export interface DescribedApi {
  document: Json;
  /** One sentence each; empty when every route is documented and every documented path is mounted. */
  problems: string[];
}

/**
 * Describes the routes that are mounted as an OpenAPI 3.0.0 document: the `@openapi` comments of their route files over
 * what is known of them, with the schemas that validate.
 *
 * @throws Error when a comment is no valid YAML, or two zod schemas share one id
 */
export function describeApi(sources: readonly RouteSource[], info: ApiInfo, ids?: SchemaIds): DescribedApi {
  const resources = describeResources(sources, ids);
  const queries = new QueryComponents();
  const described = sources.map((source) => {
    const docs = readAuthorDocs(source);
    return { docs, ...describeRoutes(source, docs, resources.bySource.get(source) ?? [], queries) };
  });
  const written = described.map(({ docs }) => docs.components).reduce(deepMerge, {}) as Json;
  const paths = described.map(({ paths }) => paths).reduce(deepMerge, {}) as Json;
  const schemes = Object.assign({}, ...described.map((file) => file.schemes));
  const { title, version, description, serverUrl } = info;
  const { document, lost } = placeSchemas(
    {
      openapi: '3.0.0',
      info: { title, version, description },
      servers: [{ url: serverUrl }],
      tags: tagsOf(
        paths,
        described.flatMap(({ docs }) => docs.tags),
      ),
      paths: withUniqueIds(paths),
      components: deepMerge(
        {
          schemas: { ...errorSchemas, ...queries.schemas, ...resources.results },
          responses: failureComponents(),
          ...(Object.keys(schemes).length > 0 && { securitySchemes: schemes }),
        },
        written,
      ),
    },
    resources.schemas,
  );
  return { document, problems: [...described.flatMap(({ problems }) => problems), ...lost.map(lostReference)] };
}

/** An operation whose id another one has gets the id that its method and path make. */
function withUniqueIds(paths: Json): Json {
  const ids = new Set<unknown>();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item as Json)) {
      if (!isJson(operation) || !('operationId' in operation)) continue;
      if (ids.has(operation['operationId'])) operation['operationId'] = operationId({ method, path });
      ids.add(operation['operationId']);
    }
  }
  return paths;
}

/**
 * Every tag that an operation has, with what an author wrote about it, in the order of the paths; those that an author
 * marks by `x-last: true` come last, such as operations after which others fail.
 */
function tagsOf(paths: Json, written: readonly Json[]): Json[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item as Json)) as { tags?: string[] }[];
  const names = new Set(operations.flatMap(({ tags }) => tags ?? []));
  const tags = [...names].map((name) => written.find((tag) => tag['name'] === name) ?? { name });
  return tags.toSorted((one, other) => Number(one['x-last'] === true) - Number(other['x-last'] === true));
}

function lostReference(id: string): string {
  return (
    `Expected a zod schema with .meta({ id: '${id}' }), to which an @openapi comment refers, found none; ` +
    'give a schema of an enabled module this id, import it for more than its type, or correct the comment.'
  );
}
