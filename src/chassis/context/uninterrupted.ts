import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<true>();

/**
 * Runs work that has to be done to its end although nobody may wait for the answer any more, such as ending the sessions
 * of a stolen account. Everything else of a request stops before its next query once its client has gone.
 */
export function uninterrupted<T>(work: () => T): T {
  return storage.run(true, work);
}

/** Whether the caller runs within `uninterrupted`. */
export function isUninterrupted(): boolean {
  return storage.getStore() === true;
}
