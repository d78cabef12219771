import { basename } from 'node:path';
import type { DocumentedPath } from './author-docs.ts';
import { isJson } from './deep-merge.ts';
import type { DescribedResource } from './describe-resources.ts';
import { documentedPath, type RouteSource } from './route-source.ts';

const responseFields = new Set(['$ref', 'description', 'headers', 'content', 'links']);

/** A route that is mounted and that nobody documented. */
export function undocumented(method: string, path: string, source: RouteSource): string {
  return (
    `Expected an @openapi comment for ${method} ${path}, found none in ${nameOf(source)}; ` +
    'add one above the default export.'
  );
}

/** The operations of a documented path that the route file does not mount. */
export function unmounted(
  path: string,
  { operations }: DocumentedPath,
  mounted: readonly string[],
  source: RouteSource,
): string[] {
  return Object.keys(operations)
    .filter((method) => !mounted.includes(method))
    .map(
      (method) =>
        `Expected a route for ${method.toUpperCase()} ${path}, which an @openapi comment of ${nameOf(source)} ` +
        'describes, found none; mount it or correct the comment.',
    );
}

/** A resource that `x-resource` names and that the route file does not mount there. */
export function unmountedResource(
  path: string,
  documented: DocumentedPath,
  resources: readonly DescribedResource[],
  source: RouteSource,
): string[] {
  if (documented.resource === undefined) return [];
  const found = resources.map((resource) => `${resource.record} at ${documentedPath(source.prefix, resource.path)}`);
  if (found.includes(`${documented.resource} at ${path}`)) return [];
  return [
    `Expected the resource ${documented.resource} at ${path}, as x-resource in ${nameOf(source)} says, ` +
      `found ${found.join(', ') || 'no resource router'}; correct one of the two.`,
  ];
}

/** Responses with a field that no response has: in YAML a comma ends a text in braces unless it is quoted. */
export function misreadResponses(path: string, { operations }: DocumentedPath, source: RouteSource): string[] {
  return Object.entries(operations).flatMap(([method, { responses }]) =>
    Object.entries(isJson(responses) ? responses : {}).flatMap(([status, response]) =>
      Object.keys(isJson(response) ? response : {})
        .filter((field) => !responseFields.has(field) && !field.startsWith('x-'))
        .map(
          (field) =>
            `Expected description, headers, content or links in response ${status} of ${method.toUpperCase()} ${path}, ` +
            `found "${field}" in ${nameOf(source)}; put a description that has a comma in quotes.`,
        ),
    ),
  );
}

function nameOf({ module, file }: RouteSource): string {
  return `${module}/${basename(file)}`;
}
