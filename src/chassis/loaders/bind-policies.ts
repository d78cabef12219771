import type { ModuleConfig } from '../config/app-config.ts';
import type { LoadFailure, SkippedRoute } from '../lifecycle/start-up-report.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import type { AnyListPolicy } from '../query/policy/list-policy.ts';
import type { PolicyReference } from '../query/policy/policy-reference.ts';
import type { PolicyRules } from '../query/policy/policy-rules.ts';
import { type MountedRouter, policiesOf, type RegisteredPolicy } from './mounted-routers.ts';

/** What is known of the modules that policies may refer to. */
export interface KnownModules {
  modules: readonly ModuleConfig[];
  /** Route files that configuration leaves out. */
  leftOut: readonly SkippedRoute[];
  /** Parts of modules that could not be loaded. */
  failures: readonly LoadFailure[];
  /** Adds to `failures` a route file that cannot be mounted. */
  fail(router: MountedRouter, error: unknown): void;
}

/**
 * Leads every `policyOf` of the list policies in these route files to the policy that the named module mounts, and checks
 * what policies say of each other. A file with a policy that cannot work, or one that refers to a module of which a part
 * could not be loaded, is left out like one that cannot be loaded.
 *
 * @returns the route files that can be mounted, in their order
 * @throws StartUpError when the named module mounts no such policy
 */
export function bindPolicies(routers: readonly MountedRouter[], known: KnownModules): readonly MountedRouter[] {
  const registered = routers.flatMap(policiesOf);
  for (const router of routers) {
    try {
      for (const from of policiesOf(router)) bindFrom(from, registered, known);
    } catch (error) {
      if (error instanceof StartUpError) throw error;
      known.fail(router, error);
      // What refers to this file misses it too.
      const others = routers.filter((other) => other !== router);
      return bindPolicies(others, known);
    }
  }
  return routers;
}

/**
 * Binds what a policy and those beside it in its module refer to, and looks up their dotted sort keys, which checks them.
 * What a reference leads to is bound where it is mounted.
 */
function bindFrom(from: RegisteredPolicy, registered: readonly RegisteredPolicy[], known: KnownModules): void {
  const seen = new Set<PolicyRules>();
  const visit = (rules: PolicyRules): void => {
    if (seen.has(rules)) return;
    seen.add(rules);
    for (const relation of rules.relations) {
      const { name, reference } = relation;
      if (reference === undefined) {
        visit(relation.target);
        continue;
      }
      const problem = bind(reference, registered, known);
      if (problem !== undefined) {
        const user = `the list policy of ${rules.model} in module ${from.module} (${from.path})`;
        const text = `Expected ${reference}, which ${user} refers to by its relation ${name}; ${problem}`;
        throw hasFailed(reference.module, known) ? new Error(text) : new StartUpError(text);
      }
    }
    rules.sorts.keys();
  };
  visit(from.policy.rules);
}

/** Says what is wrong where a reference leads to no policy, or to more than one. */
function bind(reference: PolicyReference, registered: readonly RegisteredPolicy[], known: KnownModules) {
  const { module, model } = reference;
  const fits = ({ own, policy, ...mounted }: RegisteredPolicy) =>
    own && mounted.module === module && policy.model === model;
  const found = registered.filter(fits);
  const [policy, ...more] = new Set<AnyListPolicy>(found.map((one) => one.policy));
  if (policy === undefined) return whyMissing(reference, registered, known);
  if (more.length > 0) {
    const paths = found.map(({ path }) => path).join(' and ');
    return `module ${module} has different policies of ${model}, at ${paths}. Declare one of your own with listPolicy().`;
  }
  if (reference.bind(policy)) return undefined;
  return (
    `another service of this process has bound it to another policy. Declare the policy of ${model} once, at the top of ` +
    `a *.schema.ts of module ${module}.`
  );
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
