import type { RequestHandler, Router } from 'express';
import { publicAccess } from './middleware.ts';
import { isRouter, layersOf, templatesOf, withoutEndSlashes } from './routes-of.ts';
import { isSpecial, patternOf, routePattern } from './yield-to-specific.ts';

/** The paths below its prefix at which a router may do anything: its routes', and all below a `use`, such as one of a guard. */
export function pathsOf(router: Router): RegExp {
  return oneOf(patternsOf(router, ''));
}

/** The paths that full templates stand for, and maybe others. */
export function pathsOfTemplates(templates: readonly string[]): RegExp {
  return oneOf(templates.map((template) => patternAt(template, routePattern)));
}

function patternsOf(router: Router, prefix: string): string[] {
  return layersOf(router).flatMap(({ handle, rawPath, route }) => {
    const declared = route ? route.path : rawPath;
    // It answers nothing, nor does what is for errors alone.
    if (!route && (handle === publicAccess || (handle as RequestHandler).length > 3)) return [];
    if ([declared].flat().some((path) => typeof path !== 'string')) return [anywhere];
    const paths = templatesOf(declared, prefix);
    if (isRouter(handle)) return paths.flatMap((path) => (isSpecial(path) ? [anywhere] : patternsOf(handle, path)));
    return paths.map((path) => patternAt(path, route ? routePattern : below));
  });
}

const anywhere = '.*';

function below(path: string): string {
  return `${patternOf(withoutEndSlashes(path))}(?:/|$)`;
}

function patternAt(path: string, pattern: (path: string) => string): string {
  return isSpecial(path) ? anywhere : pattern(path);
}

function oneOf(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.length === 0 ? '^(?!)' : `^(?:${[...new Set(patterns)].join('|')})`, 'i');
}
