import type { Principal } from '../context/principal.ts';
import type { TokenClaims } from './token-verifier.ts';

/** Which claims name roles and tenant: a name, or a path with dots. */
export interface StandardClaims {
  rolesClaim: string;
  tenantClaim: string;
}

/**
 * The principal that the claims of an access token name: `sub`, roles, the scopes of `scope` (RFC 8693) or `scp` (Entra ID,
 * Okta), the tenant, and the moment of `auth_time`. What is missing or of another type gives nothing.
 */
export function standardPrincipal(claims: TokenClaims, { rolesClaim, tenantClaim }: StandardClaims): Principal {
  const tenantId = claimAt(claims, tenantClaim);
  return {
    userId: claims.sub,
    roles: new Set(words(claimAt(claims, rolesClaim))),
    scopes: new Set([...words(claims['scope']), ...words(claims['scp'])]),
    ...(typeof tenantId === 'string' && tenantId !== '' && { tenantId }),
    ...(Number.isFinite(claims['auth_time']) && { authenticatedAt: new Date(Number(claims['auth_time']) * 1000) }),
    via: 'token',
  };
}

/** The claim of this name, which may have dots in it as URLs do, or the one that its dots lead to. */
function claimAt(claims: object, name: string): unknown {
  if (Object.hasOwn(claims, name)) return (claims as Record<string, unknown>)[name];
  return name.split('.').reduce<unknown>((value, key) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isObject ? (value as Record<string, unknown>)[key] : undefined;
  }, claims);
}

/** A list of texts, or one text with blanks between its words. */
function words(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}
