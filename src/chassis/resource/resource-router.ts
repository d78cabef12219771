import { type RequestHandler, Router } from 'express';
import { asyncHandler } from '../http/pipeline/middleware.ts';
import type { ResourceController, ResourceSchemas } from './resource-controller.ts';

/** Who may call the routes of a resource. A group that is left out is not mounted at all. */
export interface ResourceAccess {
  /** list, paginated, get. */
  read?: RequestHandler;
  /** create, update, delete. */
  write?: RequestHandler;
}

/** What a resource router is made of, for whoever describes the API. */
export interface ResourceDescription {
  path: string;
  schemas: ResourceSchemas;
  access: ResourceAccess;
}

type HandlerName<C> = {
  [K in keyof C]: C[K] extends (request: never, response: never) => unknown ? K : never;
}[keyof C];

const descriptions = new WeakMap<Router, ResourceDescription>();

/** Lets everybody in; written out, so that an open route is a decision that can be read. */
export const publicAccess: RequestHandler = (_request, _response, next) => next();

/** One method of a controller as a route handler; what it raises or rejects with reaches the error handler. */
export function handle<C extends object>(controller: C, method: HandlerName<C>): RequestHandler {
  return asyncHandler((request, response, next) =>
    (controller[method] as unknown as RequestHandler).call(controller, request, response, next),
  );
}

/**
 * The standard resource router (spec.md: Route layout of a module).
 *
 * @param path the resource's segment as it stands below the module's prefix, e.g. `/products`
 * @param access who may read and who may write; a group left out has no routes
 */
export function resourceRouter(path: string, controller: ResourceController, access: ResourceAccess): Router {
  const router = Router();
  if (access.read) {
    router.get(path, access.read, handle(controller, 'list'));
    router.get(`${path}/paginated`, access.read, handle(controller, 'paginated'));
    router.get(`${path}/:id`, access.read, handle(controller, 'get'));
  }
  if (access.write) {
    router.post(path, access.write, handle(controller, 'create'));
    router.put(`${path}/:id`, access.write, handle(controller, 'update'));
    router.delete(`${path}/:id`, access.write, handle(controller, 'delete'));
  }
  descriptions.set(router, { path, schemas: controller.schemas, access });
  return router;
}

/** What `resourceRouter` made this router of; undefined for any other router. */
export function describeRouter(router: Router): ResourceDescription | undefined {
  return descriptions.get(router);
}
