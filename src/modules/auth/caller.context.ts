import type { Request } from 'express';
import { addressOf, currentPrincipal, getRequestContext, parseBody } from 'slipway';
import { type Login, login } from './auth.schema.ts';
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

const logins = new WeakMap<Request, Login>();

/** The body of a login, which several steps of it ask for and the first of them parses. @throws ValidationException */
export function loginOf(request: Request): Login {
  let body = logins.get(request);
  if (!body) {
    body = parseBody(login, request.body);
    logins.set(request, body);
  }
  return body;
}

/** Where a request comes from. Of the user agent no secret, as in the log: sessions are stored, and shown to who has the account. */
export function deviceOf(request: Request): Device {
  const isKnown = fromKnownAddresses.has(request);
  return { address: addressOf(request), userAgent: getRequestContext()?.userAgent, isKnown };
}
