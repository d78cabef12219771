import type { Request } from 'express';
import { addressOf, currentPrincipal } from 'slipway';
import type { Device } from './auth.types.ts';

/** The caller that the guard let through. @throws Error when there is no guard before it */
export function callerOf(): { userId: string; sessionId: string } {
  const { userId, sessionId } = currentPrincipal() ?? {};
  if (userId === undefined || sessionId === undefined) {
    throw new Error(
      'Expected an authenticated caller, found none; put a guard such as auth.user() before the handler.',
    );
  }
  return { userId, sessionId };
}

/** The tenant of an account: its organization, or itself without one. */
export function tenantOf(account: { id: string; organizationId: string | null }): string {
  return account.organizationId ?? account.id;
}

const fromKnownAddresses = new WeakSet<Request>();

/** Notes that the account of a login had a session at the address of the request lately. */
export function noteKnownAddress(request: Request): void {
  fromKnownAddresses.add(request);
}

/** Where a request comes from. */
export function deviceOf(request: Request): Device {
  const isKnown = fromKnownAddresses.has(request);
  return { address: addressOf(request), userAgent: request.headers['user-agent'], isKnown };
}
