import { findService } from './current-service.ts';
import type { Principal } from './principal.ts';
import { currentPrincipal, isUnscoped, scopes } from './request-context.ts';

/**
 * Runs `work` as this principal, and what it gives to be gone through, such as `each` of a repository: row scopes, the
 * columns of who wrote, and the audit trail take it for the caller. For jobs
 * and consumers of messages, which no guard precedes, and for support that acts for a customer. One log line names
 * both; the log lines of the request keep its own caller.
 */
export function runAs<T>(principal: Principal, work: () => T): T {
  const { userId } = currentPrincipal() ?? {};
  findService()?.logger.info({ userId, actsAs: principal.userId }, 'acting as another principal');
  return scopes.run({ ...current(), acting: { principal, unscopedReason: undefined } }, () => begun(work()));
}

/**
 * Runs `work` beyond the scopes of repositories: it sees and touches the rows of all tenants and owners, deleted ones too.
 * A log line tells the reason and who acts, where any model has a scope and nothing has lifted it already.
 *
 * @param reason why that is right, e.g. `'nightly totals of all tenants'`; to be found in the log
 * @throws Error for an empty reason
 */
export function unscoped<T>(reason: string, work: () => T): T {
  if (reason.trim() === '')
    throw new Error("Expected the reason for unscoped(reason, work), got ''; say why it is right.");
  const principal = currentPrincipal();
  const { database, logger } = findService() ?? {};
  if (database?.mayHaveScopes && !isUnscoped()) logger?.info({ userId: principal?.userId, reason }, 'row scope lifted');
  return withoutScopes(reason, work);
}

/**
 * `unscoped` without a line in the log: for the sample data of the service, which no caller asks for, and which each start
 * in development looks at.
 */
export function withoutScopes<T>(reason: string, work: () => T): T {
  const acting = { principal: currentPrincipal(), unscopedReason: reason };
  return scopes.run({ ...current(), acting }, () => begun(work()));
}

/**
 * A query of the ORM begins where it is awaited, and a generator, such as `each` of a repository gives, goes on where it is
 * asked for more. Both would be outside, as somebody else: so a query begins here, and a generator goes on as here.
 */
function begun<T>(result: T): T {
  if (result instanceof Promise) return result.then(goingOn) as T;
  if (typeof (result as { then?: unknown } | null | undefined)?.then !== 'function') return goingOn(result);
  const query = result as unknown as PromiseLike<unknown>;
  return new Promise((resolve, reject) => void query.then(resolve, reject)) as T;
}

/** Has a generator that is made within `runAs` or `unscoped` go on as who acts there, also where it is part of what these give. */
export function asMaker<T>(generator: T): T {
  return scopes.getStore()?.acting ? goingOn(generator) : generator;
}

const generators: ReadonlySet<string> = new Set(['[object AsyncGenerator]', '[object Generator]']);
const steps = ['next', 'return', 'throw'] as const;

/** Has each step of a generator run as who acts now; anything else is given as it is. */
function goingOn<T>(result: T): T {
  if (!generators.has(Object.prototype.toString.call(result))) return result;
  const generator = result as Record<(typeof steps)[number], (...given: unknown[]) => unknown>;
  const scope = current();
  for (const step of steps) {
    const take = generator[step];
    generator[step] = (...given) => scopes.run(scope, () => Reflect.apply(take, generator, given));
  }
  return result;
}

function current() {
  return scopes.getStore() ?? { service: undefined, request: undefined };
}
