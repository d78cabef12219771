import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Principal } from '../context/principal.ts';
import { bearerToken } from './bearer-token.ts';
import type { IdentityProvider } from './identity-provider.ts';

/**
 * Accepts tokens that a setting holds, in `Authorization: Bearer …`: for a service that only its operators and other
 * services change, and until there is an identity provider. Who has one of them is one and the same principal.
 *
 * @param tokens the tokens that hold; a new one is added before the old one is left out
 * @param principal who calls with them. Default: `administrator`, with the role `admin`
 * @throws Error without a token
 * @example guards(({ AUTH_TOKEN }) => fixedToken(AUTH_TOKEN), { roles: ['admin', 'user'] })
 */
export function fixedToken(tokens: readonly string[], principal: Principal = administrator): IdentityProvider {
  if (tokens.length === 0) throw new Error('Expected of fixedToken() at least one token, found none.');
  const known = tokens.map(digest);
  return {
    schemes: {
      bearer: {
        document: { type: 'http', scheme: 'bearer' },
        expects: 'the header Authorization: Bearer <token>',
        challenge: 'Bearer',
      },
    },
    identify(request: Request) {
      const token = bearerToken(request);
      if (token === undefined) return undefined;
      const given = digest(token);
      return known.some((one) => timingSafeEqual(one, given)) ? principal : undefined;
    },
  };
}

const administrator: Principal = {
  userId: 'administrator',
  roles: new Set(['admin']),
  scopes: new Set(),
  via: 'token',
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
