import type { IRoute, RequestHandler } from 'express';
import { type DeclaredRoute, withoutEndSlashes } from './routes-of.ts';

/**
 * Lets a route with parameters pass on what a more specific route is for, wherever that is declared: `/products/top`
 * wins over `/products/:id`, whichever file and line comes first. The order of middleware stays as it is declared. Paths
 * with wildcards, optional parts or two parameters in one segment are left as they are.
 *
 * @param routes all routes of an app, in the order in which Express tries them
 */
export function yieldToSpecific(routes: readonly DeclaredRoute[]): void {
  routes.forEach(({ method, path, route }, index) => {
    const later = routes.slice(index + 1).filter((other) => other.method === method && covers(path, other.path));
    if (later.length > 0)
      passOn(route, method, new RegExp(`^(?:${later.map((other) => patternOf(other.path)).join('|')})/?$`, 'i'));
  });
}

/** A parameter as path-to-regexp reads it; a name in quotes is left to it. */
const name = String.raw`:[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*`;
const parameter = new RegExp(`(${name})`, 'gu');
const special = new RegExp(String.raw`[*{}()[\]\\"]|${name}[^/]*:`, 'u');
const wholeSegment = new RegExp(`^${name}$`, 'u');

/** The path with its parameters' names left out: two routes of one method and shape answer the same requests. */
export function shapeOf(path: string): string {
  return path.replace(parameter, ':');
}

/** Whether every request for `other` would be answered by `path`, which is less specific. */
function covers(path: string, other: string): boolean {
  if (isSpecial(path) || isSpecial(other)) return false;
  const [segments, others] = [path.split('/'), other.split('/')];
  if (segments.length !== others.length || shapeOf(path) === shapeOf(other)) return false;
  return segments.every((segment, index) => isParameter(segment) || shapeOf(segment) === shapeOf(others[index] ?? ''));
}

/**
 * Whether a path is left as it is: `patternOf` knows no wildcards and optional parts, and two parameters in one segment would
 * make an expression whose time grows with the square of the request's path.
 */
export function isSpecial(path: string): boolean {
  return special.test(path);
}

function isParameter(segment: string): boolean {
  return wholeSegment.test(segment);
}

/**
 * The text of a regular expression that ends with the path of a route. It takes any slashes at the end: how many Express
 * takes depends on where a router is mounted, as `/shop//` is a route `/` of a router at `/shop`, and no route `/shop`.
 */
export function routePattern(path: string): string {
  return `${patternOf(withoutEndSlashes(path))}/*$`;
}

/** A template as the text of a regular expression; parameters stand for one segment each. */
export function patternOf(path: string): string {
  return path
    .split(parameter)
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.+?^$|]/g, '\\$&')))
    .join('');
}

function passOn(route: IRoute, method: string, more: RegExp): void {
  const first = route.stack.find((layer) => layer.method === undefined || layer.method.toUpperCase() === method);
  if (!first) return;
  const handler = first.handle as RequestHandler;
  const yieldOr: RequestHandler = (req, res, next) =>
    more.test(req.baseUrl + req.path) ? next('route') : handler(req, res, next);
  // A guard describes itself by what it carries.
  first.handle = Object.assign(yieldOr, handler);
}
