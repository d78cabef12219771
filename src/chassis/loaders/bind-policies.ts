import type { ModuleConfig } from '../config/app-config.ts';
import { type LoadFailure, type SkippedRoute, StartUpError } from '../lifecycle/start-up-report.ts';
import type { PolicyReference } from '../query/policy/policy-reference.ts';
import type { PolicyRules } from '../query/policy/policy-rules.ts';
import { ServicePolicies } from '../query/policy/service-policies.ts';
import { type MountedRouter, policiesOf, type RegisteredPolicy } from './mounted-routers.ts';

/** What is known of the modules that policies may refer to. */
interface KnownModules {
  modules: readonly ModuleConfig[];
  /** Route files that configuration leaves out. */
  leftOut: readonly SkippedRoute[];
  /** Parts of modules that could not be loaded. */
  failures: readonly LoadFailure[];
  /** Adds to `failures` a route file that cannot be mounted. */
  fail(router: MountedRouter, error: unknown): void;
}

/** Route files whose policies hold together, and those policies. */
export interface BoundPolicies {
  /** The route files that can be mounted, in their order. */
  routers: readonly MountedRouter[];
  policies: ServicePolicies;
}

/**
 * Leads every `policyOf` of the list policies in these route files to the policy that the named module mounts, and checks
 * what policies say of each other. A file with a policy that cannot work, or one that refers to a module of which a part
 * could not be loaded, is left out like one that cannot be loaded.
 *
 * @throws StartUpError when the named module mounts no such policy
 */
export function bindPolicies(routers: readonly MountedRouter[], known: KnownModules): BoundPolicies {
  const registered = routers.flatMap(policiesOf);
  const policies = new ServicePolicies(registered.filter(({ own }) => own));
  for (const router of routers) {
    try {
      for (const from of policiesOf(router)) check(from, { registered, policies, known });
    } catch (error) {
      if (error instanceof StartUpError) throw error;
      known.fail(router, error);
      // What refers to this file misses it too.
      const others = routers.filter((other) => other !== router);
      return bindPolicies(others, known);
    }
  }
  return { routers, policies };
}

interface Found {
  registered: readonly RegisteredPolicy[];
  policies: ServicePolicies;
  known: KnownModules;
}

/**
 * Checks what a policy and those beside it in its module refer to, and looks up their dotted sort keys. What a reference
 * leads to is checked where it is mounted.
 */
function check(from: RegisteredPolicy, found: Found): void {
  const seen = new Set<PolicyRules>();
  const visit = (rules: PolicyRules): void => {
    if (seen.has(rules)) return;
    seen.add(rules);
    for (const relation of rules.relations) {
      const { name, reference } = relation;
      const problem = reference && problemOf(reference, found);
      if (reference && problem !== undefined) {
        const user = `the list policy of ${rules.model} in module ${from.module} (${from.path})`;
        const text = `Expected ${reference}, which ${user} refers to by its relation ${name}; ${problem}`;
        throw hasFailed(reference.module, found.known) ? new Error(text) : new StartUpError(text);
      }
      if (reference === undefined) visit(relation.target);
    }
    rules.sorts.keys();
    rules.search.keys();
  };
  visit(found.policies.of(from.policy).rules);
}

/** Says what is wrong where a reference leads to no policy, or to more than one. */
function problemOf(reference: PolicyReference, { registered, policies, known }: Found): string | undefined {
  const { module, model } = reference;
  const named = policies.named(reference);
  if (named.length === 0) return whyMissing(reference, registered, known);
  if (named.length === 1) return undefined;
  const paths = registered
    .filter((one) => one.own && one.module === module && one.policy.model === model)
    .map(({ path }) => path)
    .join(' and ');
  return `module ${module} has different policies of ${model}, at ${paths}. Declare one of your own with listPolicy().`;
}

function whyMissing({ module, model }: PolicyReference, registered: readonly RegisteredPolicy[], known: KnownModules) {
  const config = known.modules.find(({ name }) => name === module);
  const others = known.modules.map(({ name }) => name).join(', ');
  const remove = 'or take the relation out of the policy.';
  if (!config) return `there is no module ${module} in AppConfig (only ${others}). Add it, correct the name, ${remove}`;
  if (!config.enabled) return `module ${module} is disabled in AppConfig. Enable it, ${remove}`;
  if (hasFailed(module, known)) return `module ${module} could not be loaded, see its own failure.`;
  const lists = registered
    .filter((one) => one.module === module)
    .map(({ path, policy }) => `${policy.model} at ${path}`);
  const skipped = known.leftOut
    .filter((one) => one.module === module)
    .map(({ file, reason }) => `${file} is ${reason}`);
  const found = [...(lists.length > 0 ? lists : ['no list']), ...skipped].join(', ');
  return `module ${module} mounts ${found}. Mount ${model} there with read access, correct the name, ${remove}`;
}

function hasFailed(module: string, { failures }: KnownModules): boolean {
  return failures.some((failure) => failure.module === module);
}
