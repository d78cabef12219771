import { randomBytes } from 'node:crypto';
import { signingKeys, wholeNumber, z } from 'slipway';

/** Settings of the auth module, by the name of their environment variable. No secret has a default in production. */
export const authSettings = {
  AUTH_JWT_SECRET: z
    .string()
    .refine((value) => Buffer.byteLength(value) >= 32, 'expected at least 32 bytes, e.g. of `openssl rand -base64 32`')
    .default(() => randomBytes(32).toString('base64'))
    .describe(
      'Seals refresh tokens, and signs access tokens without AUTH_SIGNING_KEYS; the same on all replicas; outside production made anew at each start when unset',
    )
    .meta({ secret: true, requiredInProduction: true }),
  AUTH_SIGNING_KEYS: signingKeys(
    'Private keys in PEM one after the other, of which the first signs access tokens; others verify them by `/auth/.well-known/jwks.json`',
  ),
  AUTH_ACCESS_TOKEN_TTL_SECONDS: wholeNumber(30, 3600, 900).describe(
    'Life of an access token in seconds; reads by ordinary users are not checked against the database during that time',
  ),
  AUTH_REFRESH_TOKEN_TTL_DAYS: wholeNumber(1, 365, 30).describe(
    'Life of a refresh token in days, counted anew at each rotation',
  ),
  AUTH_SESSION_MAX_DAYS: wholeNumber(1, 3650, 90).describe(
    'Longest life of a session in days, however often its tokens are exchanged',
  ),
  AUTH_REAUTHENTICATE_MINUTES: wholeNumber(1, 1440, 15).describe(
    'Minutes after login or POST /auth/reauthenticate during which administrators may change accounts, and users make API keys',
  ),
  AUTH_REQUESTS_PER_MINUTE: wholeNumber(1, 1_000_000, 30).describe(
    'Attempts per client address and minute, for each of registration, login, refresh and logout',
  ),
  AUTH_REGISTRATIONS_PER_DAY: wholeNumber(1, 1_000_000, 300).describe(
    'Attempts to register per client address and day: each account may store files, orders and texts',
  ),
  AUTH_LOGINS_PER_ACCOUNT: wholeNumber(1, 1_000_000, 10).describe(
    'Login attempts per account and client address in five minutes; also limits how often a user may confirm or change the password',
  ),
  AUTH_LOGINS_PER_ACCOUNT_AND_HOUR: wholeNumber(1, 1_000_000, 100).describe(
    'Login attempts per account in an hour from all client addresses; an address that had a session before has a limit of its own of the same size',
  ),
  AUTH_AUDIT_DAYS: wholeNumber(0, 36_500, 365).describe(
    'How long the audit trail keeps an event, in days; 0 keeps all, for services that remove them on their own',
  ),
};

declare global {
  namespace Slipway {
    interface Settings extends z.infer<z.ZodObject<typeof authSettings>> {}
  }
}
