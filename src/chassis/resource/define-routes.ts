import type { Router } from 'express';

/** A route file's default export: makes the file's router from the container's cradle. */
export type RouteFactory = (cradle: Slipway.Cradle) => Router;

/**
 * Declares the routes of a route file; paths are relative to the module's prefix (spec.md: Route layout of a module).
 * The cradle is typed, so that a misspelt dependency is a type error.
 */
export function defineRoutes(factory: RouteFactory): RouteFactory {
  return factory;
}
