import type { RequestObserver } from '../../context/request-observer.ts';

const observers: RequestObserver[] = [];

/** Has `observer` see every request of the service, after those that were added before it. */
export function observeRequests(observer: RequestObserver): void {
  observers.push(observer);
}

/** All observers in their order; one that is added later appears in it. */
export function requestObservers(): readonly RequestObserver[] {
  return observers;
}

/** Forgets all observers, so that the next start begins anew. */
export function resetRequestObservers(): void {
  observers.length = 0;
}
