import type { Principal } from '../context/principal.ts';
import type { RequestObserver } from '../context/request-observer.ts';

/** The header by which a test says who calls. */
const header = 'x-test-principal';

/** A caller as a test names one. */
export interface TestPrincipal extends Partial<Omit<Principal, 'roles' | 'scopes'>> {
  roles?: Iterable<string>;
  scopes?: Iterable<string>;
}

/**
 * Sets the principal that a request names, before any guard. Only requests with the password of the booted service are
 * believed, and only `bootTestService` adds it to a service.
 */
export function actAsNamed(password: string): RequestObserver {
  return {
    opened(context, request) {
      const [given, named] = String(request.headers[header] ?? '').split(' ', 2);
      if (given !== password || named === undefined) return;
      const { roles, scopes, authenticatedAt, ...rest } = JSON.parse(decodeURIComponent(named));
      const moment = authenticatedAt && { authenticatedAt: new Date(authenticatedAt) };
      const principal: Principal = { ...rest, ...moment, roles: new Set(roles), scopes: new Set(scopes) };
      Object.assign(context, { principal, assumedPrincipal: principal });
      context.userId = rest.userId;
    },
  };
}

/** The headers of a request that `actAsNamed` believes. */
export function headersOf(password: string, principal: TestPrincipal): Record<string, string> {
  const { userId = 'tester', roles = [], scopes = [], ...rest } = principal;
  const named = JSON.stringify({ userId, ...rest, roles: [...roles], scopes: [...scopes] });
  return { [header]: `${password} ${encodeURIComponent(named)}` };
}
