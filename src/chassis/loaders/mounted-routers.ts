import type { Express, Router } from 'express';
import { routersOf } from '../http/pipeline/routes-of.ts';
import type { AnyListPolicy } from '../query/policy/list-policy.ts';
import type { ServicePolicies } from '../query/policy/service-policies.ts';
import { describeRouter } from '../resource/resource-router.ts';

/** A route file that is mounted: its router and where it stands. */
export interface MountedRouter {
  module: string;
  /** Absolute path of the route file. */
  file: string;
  prefix: string;
  router: Router;
}

/** A list policy that clients can use: the resource that it belongs to, and where that is mounted. */
export interface RegisteredPolicy {
  module: string;
  /** That of the module, or one of them. */
  prefix: string;
  /** Full path of the list, below the module's prefix, e.g. `/api/v1/products`. */
  path: string;
  policy: AnyListPolicy;
  /** Whether it is the resource's `list`; else it is one of `otherLists`, which `policyFor` chooses for some callers. */
  own: boolean;
}

/** What is mounted on an app. */
interface Mounted {
  readonly routers: readonly MountedRouter[];
  readonly policies: ServicePolicies;
}

const mounted = new WeakMap<object, Mounted>();

/** Keeps which route files are mounted on an app, and the policies of their resources. */
export function keepMounted(app: Express, what: Mounted): void {
  mounted.set(app, what);
}

/** The route files mounted on an app, in the order of mounting. */
export function routersOn(app: Express): readonly MountedRouter[] {
  return mounted.get(app)?.routers ?? [];
}

/**
 * The list policies of the resources that can be read on an app, in the order of mounting, as its service reads them. The
 * shared tests of lists and leaks derive their cases from it; nothing in a running service asks for it.
 */
export function registeredPolicies(app: Express): RegisteredPolicy[] {
  const { routers, policies } = mounted.get(app) ?? { routers: [] };
  return routers.flatMap(policiesOf).map((found) => ({ ...found, policy: policies?.of(found.policy) ?? found.policy }));
}

/** The list policies, as declared, of the resources that can be read by the routes of one file, also in routers inside its router. */
export function policiesOf({ module, prefix, router: outer }: MountedRouter): RegisteredPolicy[] {
  return routersOf(outer, prefix).flatMap(({ router, path: above }) => {
    const resource = describeRouter(router);
    const { list, get, read } = resource?.access ?? {};
    if (!resource || !(list ?? get ?? read)) return [];
    const path = `${above.replace(/\/$/, '')}${resource.path}`;
    const { list: own, otherLists = [] } = resource.schemas;
    const others = [own, ...otherLists].flatMap(({ variants }) => variants.map(({ policy }) => policy));
    return [
      { module, prefix, path, policy: own, own: true },
      ...[...otherLists, ...others].map((policy) => ({ module, prefix, path, policy, own: false })),
    ];
  });
}
