import type { Service } from '../service.ts';
import { scopes } from './request-context.ts';

/** The services of this process that start, serve or close. */
const open = new Set<Service>();

/** Has the process know a service from its start until its end. */
export function serviceOpened(service: Service): void {
  open.add(service);
}

/** Forgets a service that has ended. */
export function serviceClosed(service: Service): void {
  open.delete(service);
}

/** The services that start, serve or close, in the order in which they were started. */
export function openServices(): Service[] {
  return [...open];
}

/**
 * The service that the caller belongs to: the one whose request, timer, start or health check it runs in, else the only one
 * of the process. Undefined where there is none, or more than one and no sign of which.
 */
export function findService(): Service | undefined {
  const { service } = scopes.getStore() ?? {};
  if (service !== undefined) return service;
  const [only, second] = open;
  return second === undefined ? only : undefined;
}

/**
 * The service that the caller belongs to, for the functions that have no parameter for it.
 *
 * @throws Error where there is none, or more than one and no sign of which
 */
export function currentService(): Service {
  const service = findService();
  if (service) return service;
  throw new Error(
    `Expected a current service, found ${open.size === 0 ? 'none' : `${open.size}, and no sign of which is meant`}. ` +
      'Make one with createService(config, { env }) and call this in a module, a request, or within service.run(() => …).',
  );
}

/** Runs `work`, and everything that it begins, as part of a service and outside any request. */
export function runInService<T>(service: Service, work: () => T): T {
  return scopes.run({ service, request: undefined }, work);
}
