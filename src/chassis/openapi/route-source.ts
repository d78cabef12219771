import type { Router } from 'express';

/** A mounted route file: where its documentation is read, and what it mounts. */
export interface RouteSource {
  module: string;
  /** Absolute path of the route file. */
  file: string;
  prefix: string;
  router: Router;
}

/** The parameters of a path template of Express 5, e.g. `:id` and `*file`. */
const parameter = /[:*](\w+)/g;

/** An Express path as an OpenAPI path template: `/products/:id` is `/products/{id}`. */
function pathTemplate(path: string): string {
  return path.replace(parameter, '{$1}');
}

/** A path of a route file as it stands in the document, below the module's prefix (spec.md: Registration rule 4). */
export function documentedPath(prefix: string, path: string): string {
  const joined = pathTemplate(`${prefix.replace(/\/$/, '')}/${path.replace(/^\//, '')}`);
  return joined.length > 1 ? joined.replace(/\/$/, '') : joined;
}

/** Names of the parameters of a path template. */
export function parameterNames(template: string): string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}
