import type { Request } from 'express';
import { UnauthorizedException } from '../errors/exceptions.ts';

/** The token of the header `Authorization: Bearer …` (RFC 6750); undefined where there is none, or another scheme. */
export function bearerToken({ headers: { authorization } }: Request): string | undefined {
  return authorization === undefined ? undefined : /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
}

/** The credentials of every provider of bearer tokens. */
export const bearerSchemes = {
  bearer: {
    document: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    expects: 'the header Authorization: Bearer <access token>',
    challenge: 'Bearer',
  },
} as const;

/** The one refusal of a token, which does not tell the client why; the log does. */
export function invalidToken(reason: string, cause?: unknown): UnauthorizedException {
  return new UnauthorizedException(
    'The access token is invalid or has expired; log in or refresh to get a new one',
    undefined,
    { cause, context: { reason }, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } },
  );
}

/** The issuer that a token names, before anything is verified; undefined for what is no JWT. */
export function claimedIssuer(token: string): unknown {
  const payload = token.split('.', 3)[1];
  if (payload === undefined) return undefined;
  try {
    return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iss?: unknown } | null)?.iss;
  } catch {
    // What is no JSON names nobody.
    return undefined;
  }
}
