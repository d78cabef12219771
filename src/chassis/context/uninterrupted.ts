import { AsyncLocalStorage } from 'node:async_hooks';
import { getRequestContext, type RequestContext } from './request-context.ts';

/** A request that waits for shared work; undefined stands for someone who always does. */
export type Waiter = RequestContext | undefined;

const storage = new AsyncLocalStorage<readonly Waiter[]>();
const always: readonly Waiter[] = [undefined];

/**
 * Runs work that has to be done to its end although nobody may wait for the answer any more, such as ending the sessions
 * of a stolen account. Everything else of a request stops before its next query once its client has gone.
 */
export function uninterrupted<T>(work: () => T): T {
  return storage.run(always, work);
}

/** Runs work that is shared by these, to its end while one of them waits. */
export function sharedBy<T>(waiters: readonly Waiter[], work: () => T): T {
  return storage.run(waiters, work);
}

/** Who waits for what the caller asks for: its request, or always somebody outside of one and within `uninterrupted`. */
export function currentWaiter(): Waiter {
  return storage.getStore() ? undefined : getRequestContext();
}

/**
 * Who waits for the work under way; somebody who always does where it is `uninterrupted` or belongs to no request. To be
 * asked again later with `isAbandoned`.
 */
export function currentWaiters(): readonly Waiter[] {
  const waiters = storage.getStore();
  if (waiters) return waiters;
  const context = getRequestContext();
  return context ? [context] : always;
}

/** Whether none of these waits any more: their clients have gone, their answers were given or their deadlines passed. */
export function isAbandoned(waiters: readonly Waiter[]): boolean {
  return waiters.every((waiter) => waiter !== undefined && isOver(waiter));
}

function isOver({ abortReason, deadline }: RequestContext): boolean {
  return abortReason !== undefined || (deadline !== undefined && Date.now() >= deadline);
}
