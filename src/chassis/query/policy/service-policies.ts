import { type AnyListPolicy, ListPolicy } from './list-policy.ts';
import { PolicyReference } from './policy-reference.ts';
import type { RelationTarget } from './policy-rules.ts';

/** A list policy that a module mounts for all readers of a resource. */
interface MountedPolicy {
  readonly module: string;
  readonly prefix: string;
  readonly policy: AnyListPolicy;
}

/**
 * The list policies of a service, each with its relations led to those of the same service. A policy is a declaration
 * that services share; where it leads to belongs to the service and ends with it.
 */
export class ServicePolicies {
  readonly #mounted: readonly MountedPolicy[];
  readonly #resolved = new WeakMap<AnyListPolicy, AnyListPolicy>();

  /** @param mounted what the modules of the service mount, to which references lead */
  constructor(mounted: readonly MountedPolicy[] = []) {
    this.#mounted = mounted;
  }

  /** A policy as this service reads it, the same at each call. What its relations lead to is looked up at first use. */
  of(policy: AnyListPolicy): AnyListPolicy {
    const known = this.#resolved.get(policy);
    if (known) return known;
    const resolved = policy.resolvedBy((target) => this.#follow(target));
    this.#resolved.set(policy, resolved).set(resolved, resolved);
    return resolved;
  }

  /** The different policies that a reference may mean, those of the first prefix of a module: one, unless the modules are wrong. */
  named({ module, model }: PolicyReference): AnyListPolicy[] {
    const found = this.#mounted.filter((one) => one.module === module && one.policy.model === model);
    const first = found.filter(({ prefix }) => prefix === found[0]?.prefix);
    return [...new Set(first.map(({ policy }) => policy))];
  }

  #follow(target: RelationTarget): unknown {
    const policy = target instanceof PolicyReference ? this.named(target)[0] : target();
    return policy instanceof ListPolicy ? this.of(policy).rules : policy;
  }
}
