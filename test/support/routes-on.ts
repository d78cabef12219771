import type { Express } from 'express';
import { routesOf } from '../../src/chassis/http/pipeline/routes-of.ts';
import { routersOn } from '../../src/chassis/loaders/mounted-routers.ts';

/** The routes of the modules mounted on an app, in the order of mounting. */
export function routesOn(app: Express): { method: string; path: string }[] {
  return routersOn(app).flatMap(({ router, prefix }) => routesOf(router, prefix));
}
