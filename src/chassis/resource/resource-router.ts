import { type Request, type RequestHandler, Router } from 'express';
import { PreconditionRequiredException } from '../errors/exceptions.ts';
import { asyncHandler, publicAccess } from '../http/pipeline/middleware.ts';
import type { ServicePolicies } from '../query/policy/service-policies.ts';
import type { ResourceController } from './resource-controller.ts';
import type { ResourceSchemas } from './resource-schemas.ts';

/** A route file's default export: makes the file's router from the container's cradle. */
export interface RouteFactory {
  (cradle: Slipway.Cradle): Router;
  /** The prefixes of the module below which it stands; undefined for all. */
  readonly prefixes?: readonly string[];
}

/**
 * Declares the routes of a route file; paths are relative to the module's prefix (spec.md: Route layout of a module).
 * The cradle is typed, so that a misspelt dependency is a type error.
 *
 * @param factory makes the file's router, once for each prefix of the module
 * @param options.prefix the prefix, or several, of those that the module has, for routes of some versions of an API only.
 * Default: all of them
 */
export function defineRoutes(
  factory: (cradle: Slipway.Cradle) => Router,
  { prefix }: { prefix?: string | readonly string[] } = {},
): RouteFactory {
  const make = (cradle: Slipway.Cradle) => factory(cradle);
  return prefix === undefined ? make : Object.assign(make, { prefixes: [prefix].flat() });
}

/**
 * Who may call the routes of a resource. An operation is for whom it names, else for whom its group names; one for which
 * neither is there is not mounted at all.
 */
export interface ResourceAccess {
  /** list, paginated, get. */
  read?: RequestHandler;
  /** create, update, delete. */
  write?: RequestHandler;
  /** The list and the paginated list. Default: `read`. */
  list?: RequestHandler;
  /** One record. Default: `read`. */
  get?: RequestHandler;
  /** Default: `write`. */
  create?: RequestHandler;
  /** PUT, and PATCH where there is one. Default: `write`. */
  update?: RequestHandler;
  /** Default: `write`. */
  delete?: RequestHandler;
  /** `idempotent()`, so that a create that is sent again with its Idempotency-Key has its effect once; the others have it anyway. */
  idempotent?: RequestHandler;
  /** How many records `POST <path>/bulk` creates at most, for who may create one. Default: none, there is no such route. */
  bulk?: number;
  /** Whether PATCH stands beside PUT. Default: false. */
  patch?: boolean;
  /** Whether a change needs If-Match, which its repository checks by its `version`. Default: false, then it may. */
  requireVersion?: boolean;
}

/** What a resource router is made of, for the description of the API. */
export interface ResourceDescription {
  path: string;
  schemas: ResourceSchemas;
  access: ResourceAccess;
  /** Whether records have versions, which If-Match names. */
  versioned: boolean;
  /** The standard routes, for which `access` says who may call them. */
  routes: ReadonlySet<unknown>;
  /** Has the resource's lists read by the policies of a service, see `ResourceController.usePolicies`. */
  readBy(policies: ServicePolicies): void;
}

type HandlerName<C> = {
  [K in keyof C]: C[K] extends (request: never, response: never) => unknown ? K : never;
}[keyof C];

const descriptions = new WeakMap<Router, ResourceDescription>();

/** One method of a controller as a route handler; what it raises or rejects with reaches the error handler. */
export function handle<C extends object>(controller: C, method: HandlerName<C>): RequestHandler {
  return asyncHandler((controller[method] as unknown as RequestHandler).bind(controller));
}

/**
 * The standard resource router (spec.md: Route layout of a module).
 *
 * @param path the resource's segment as it stands below the module's prefix, e.g. `/products`
 * @param access who may read and who may write, or who may do each operation; what is left out has no routes
 * @throws Error when it requires versions that the repository does not have, or lets in what no schema describes
 */
export function resourceRouter(path: string, controller: ResourceController, access: ResourceAccess): Router {
  if (access.requireVersion && !controller.versioned) {
    throw new Error(
      `Expected versions of ${path}, found none; declare \`version\` in its repository or leave requireVersion out.`,
    );
  }
  const router = Router();
  const { read, write } = access;
  if (access.create ?? write) expectSchema(path, controller, 'create');
  if (access.update ?? write) expectSchema(path, controller, 'update');
  const list = guards(access.list ?? read);
  const get = guards(access.get ?? read);
  const create = guards(access.create ?? write, access.idempotent);
  const version = access.requireVersion ? requireIfMatch : undefined;
  const update = guards(access.update ?? write, version);
  const remove = guards(access.delete ?? write, version);
  if (list) {
    router.get(path, ...list, handle(controller, 'list'));
    router.get(`${path}/paginated`, ...list, handle(controller, 'paginated'));
  }
  if (get) router.get(`${path}/:id`, ...get, handle(controller, 'get'));
  if (create) router.post(path, ...create, handle(controller, 'create'));
  const { bulk } = access;
  if (create && bulk) {
    const createBulk: RequestHandler = (request, response) => controller.createBulk(request, response, bulk);
    router.post(`${path}/bulk`, ...create, asyncHandler(createBulk));
  }
  if (update) {
    router.put(`${path}/:id`, ...update, handle(controller, 'update'));
    if (access.patch) router.patch(`${path}/:id`, ...update, handle(controller, 'patch'));
  }
  if (remove) router.delete(`${path}/:id`, ...remove, handle(controller, 'delete'));
  const readBy = (policies: ServicePolicies) => controller.usePolicies(policies);
  const routes = new Set(router.stack.map(({ route }) => route));
  const { schemas, versioned } = controller;
  descriptions.set(router, { path, schemas, access, versioned, routes, readBy });
  return router;
}

function expectSchema(path: string, { schemas }: ResourceController, name: 'create' | 'update'): void {
  if (schemas[name]) return;
  throw new Error(
    `Expected \`${name}\` in the schemas of ${path}, whose guard lets callers ${name} records, found none; ` +
      `add the schema, or name guards of other operations only.`,
  );
}

/** The steps before the handler of an operation, without a guard where everybody is let in; undefined where nobody is. */
function guards(access: RequestHandler | undefined, step?: RequestHandler): RequestHandler[] | undefined {
  if (!access) return undefined;
  return [...(access === publicAccess ? [] : [access]), ...(step ? [step] : [])];
}

/** Lets changes through that name the version that they are made to. @throws PreconditionRequiredException */
function requireIfMatch(request: Request, _response: unknown, next: () => void): void {
  if (request.headers['if-match'] === undefined)
    throw new PreconditionRequiredException('Expected the header If-Match with the ETag of the record, found none');
  next();
}

/** What `resourceRouter` made this router of; undefined for any other router. */
export function describeRouter(router: Router): ResourceDescription | undefined {
  return descriptions.get(router);
}
