import type { Express } from 'express';
import type { AnyListPolicy } from '../query/list-policy.ts';
import { describeRouter } from '../resource/resource-router.ts';
import { routersOn } from './load-routes.ts';

/** A list policy that clients can use: the resource that it belongs to, and where that is mounted. */
export interface RegisteredPolicy {
  module: string;
  /** Full path of the list, below the module's prefix, e.g. `/api/v1/products`. */
  path: string;
  policy: AnyListPolicy;
}

/**
 * The list policies of the resources that can be read on an app, in the order of mounting. A controller that chooses
 * another policy for some callers, by `policyFor`, is here with the one of its schemas.
 */
export function registeredPolicies(app: Express): RegisteredPolicy[] {
  return routersOn(app).flatMap(({ module, prefix, router }) => {
    const resource = describeRouter(router);
    if (!resource?.access.read) return [];
    return [{ module, path: `${prefix.replace(/\/$/, '')}${resource.path}`, policy: resource.schemas.list }];
  });
}
