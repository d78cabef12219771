import { z } from 'zod';
import { isUrlOf, wholeNumber } from './setting-types.ts';

/** Signatures by a private key; those of a shared secret (HS256 and the like) are none that a service takes from an issuer. */
const asymmetric: ReadonlySet<string> = new Set(
  'RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA,Ed25519'.split(','),
);

/**
 * The settings of one issuer of access tokens, by the prefix of their names: `PARTNER` for `bearer({ settings: 'PARTNER' })`.
 * A module adds them to its `*.config.ts`; those of the prefix `AUTH` are always there.
 */
export function issuerSettings<const Prefix extends string>(prefix: Prefix) {
  return prefixed(prefix, {
    ISSUER: z
      .string()
      .optional()
      .describe('Issuer (iss) of access tokens that are accepted; the URL of an OpenID Connect provider, or a name'),
    AUDIENCE: audience.optional().describe('Audiences (aud), by commas, of which an access token has to name one'),
    ...verification(prefix),
  });
}

const audience = z
  .string()
  .transform((list) => list.split(',').map((name) => name.trim()))
  .refine((list) => list.every((name) => name !== ''), 'expected names by commas');

const verification = (prefix: string) => ({
  JWKS_URL: z
    .string()
    .refine((text) => isUrlOf(text, 'http', 'https') && !/[#@]/.test(text), 'expected an http:// or https:// URL')
    .optional()
    .describe(`Where the keys of ${prefix}_ISSUER are (JWKS); found by OpenID Connect discovery when unset`),
  ALGORITHMS: z
    .string()
    .default('RS256,PS256,ES256,ES384,EdDSA,Ed25519')
    .transform((list) => list.split(',').map((name) => name.trim()))
    .refine(
      (list) => list.every((name) => asymmetric.has(name)),
      `expected names by commas of ${[...asymmetric].join(', ')}`,
    )
    .describe('Signatures that access tokens of another issuer may have, by commas'),
  TOKEN_TYPE: z
    .string()
    .optional()
    .describe(
      'Type (typ) that access tokens of another issuer must have, such as `at+jwt`; unset also takes `JWT` and none',
    ),
  ROLES_CLAIM: z
    .string()
    .default('roles')
    .describe('Claim with the roles of the caller, with dots into an object: `realm_access.roles` of Keycloak'),
  TENANT_CLAIM: z.string().default('tenant').describe('Claim with the tenant of the caller, such as `tid` of Entra ID'),
  CLOCK_TOLERANCE_SECONDS: wholeNumber(0, 300, 5).describe(
    'How far the clocks of issuer and service may differ, in seconds',
  ),
  JWKS_REFRESH_SECONDS: wholeNumber(10, 86_400, 600).describe(
    'Age from which keys of another issuer are asked for again, in seconds; a key that it has withdrawn counts that long',
  ),
  JWKS_STALE_SECONDS: wholeNumber(0, 604_800, 86_400).describe(
    'How long keys of another issuer count while it cannot be reached, in seconds',
  ),
});

type Prefixed<Prefix extends string, Shape> = { [Name in keyof Shape & string as `${Prefix}_${Name}`]: Shape[Name] };

function prefixed<Prefix extends string, Shape extends z.ZodRawShape>(prefix: Prefix, shape: Shape) {
  const entries = Object.entries(shape).map(([name, type]) => [`${prefix}_${name}`, type]);
  return Object.fromEntries(entries) as Prefixed<Prefix, Shape>;
}

/** Who issues the access tokens of this service: another one, or its own module `auth`. */
export const identitySettings = {
  AUTH_ISSUER: z
    .string()
    .default('slipway')
    .describe(
      'Issuer (iss) of access tokens: the URL of an OpenID Connect provider, or the name that the service itself uses',
    ),
  AUTH_AUDIENCE: audience
    .default(['slipway'])
    .describe('Audiences (aud), by commas, of which an access token has to name one'),
  ...prefixed('AUTH', verification('AUTH')),
};
