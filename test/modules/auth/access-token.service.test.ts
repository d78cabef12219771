import { createSecretKey } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { signingKeys, UnauthorizedException } from 'slipway';
import { describe, expect, it } from 'vitest';
import { AccessTokenService } from '../../../src/modules/auth/access-token.service.ts';
import { aSigningKey } from '../../support/signing-key.ts';

const secret = 'a secret of this test, 32 bytes or more';
const settings = {
  AUTH_JWT_SECRET: secret,
  AUTH_ACCESS_TOKEN_TTL_SECONDS: 900,
  AUTH_ISSUER: 'slipway',
  AUTH_AUDIENCE: ['slipway'],
} as Partial<Slipway.Cradle['settings']> as Slipway.Cradle['settings'];
const service = new AccessTokenService({ settings });
const now = Math.floor(Date.now() / 1000);

/** A token as the service makes it, but for the given claims, header and key. */
function forged(
  claims: Record<string, unknown> = {},
  header: Record<string, string> = {},
  key = secret,
): Promise<string> {
  const all = {
    iss: 'slipway',
    aud: 'slipway',
    sub: 'someone',
    sid: 'a session',
    role: 'admin',
    iat: now,
    exp: now + 900,
    jti: 'j',
    ...claims,
  };
  return new SignJWT(JSON.parse(JSON.stringify(all)))
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
    .sign(createSecretKey(key, 'utf8'));
}

describe('AccessTokenService', () => {
  it('issues a token that names issuer, audience, user, role, times and itself', async () => {
    const token = await service.issue({
      userId: 'someone',
      role: 'user',
      sessionId: 'a session',
      tenantId: 'a tenant',
    });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'at+jwt' });
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({ iss: 'slipway', aud: 'slipway', sub: 'someone', role: 'user' });
    expect((claims.exp as number) - (claims.iat as number)).toBe(900);
    expect(claims.jti).toMatch(/^[0-9a-f-]{36}$/);
    expect(await service.verify(token)).toEqual({
      userId: 'someone',
      role: 'user',
      sessionId: 'a session',
      tenantId: 'a tenant',
    });
  });

  it('says when the user last gave the password, to the second', async () => {
    const caller = { userId: 'someone', role: 'user', sessionId: 'a session', tenantId: 'a tenant' } as const;
    const token = await service.issue({ ...caller, authenticatedAt: new Date('2026-01-31T12:00:00.900Z') });
    expect(decodeJwt(token)['auth_time']).toBe(Date.UTC(2026, 0, 31, 12) / 1000);
    expect(await service.verify(token)).toEqual({ ...caller, authenticatedAt: new Date('2026-01-31T12:00:00Z') });
  });

  it('accepts the token that the refused ones below differ from, whose user is a tenant by itself', async () => {
    const caller = { userId: 'someone', role: 'admin', sessionId: 'a session', tenantId: 'someone' };
    expect(await service.verify(await forged())).toEqual(caller);
  });

  it.each([
    ['is signed with another key', () => forged({}, {}, 'b secret of this test, 32 bytes or more')],
    ['is signed with another algorithm', () => forged({}, { alg: 'HS512' }, secret.repeat(2))],
    [
      'is not signed (alg none)',
      async () =>
        new UnsecuredJWT({ sub: 'someone', role: 'admin' })
          .setIssuer('slipway')
          .setAudience('slipway')
          .setExpirationTime('1h')
          .encode(),
    ],
    ['has expired', () => forged({ exp: now - 6 })],
    ['is not valid yet', () => forged({ nbf: now + 60 })],
    ['is for another audience', () => forged({ aud: 'another' })],
    ['is of another issuer', () => forged({ iss: 'another' })],
    ['is of another type', () => forged({}, { typ: 'JWT' })],
    ['names nobody', () => forged({ sub: undefined })],
    ['names no role', () => forged({ role: undefined })],
    ['names its session by a number', () => forged({ sid: 7 })],
    ['names a list of tenants', () => forged({ tenant: ['a'] })],
    ['never expires', () => forged({ exp: undefined })],
    ['has no identity', () => forged({ jti: undefined })],
    [
      'has altered claims',
      async () =>
        tampered(
          await service.issue({ userId: 'someone', role: 'user', sessionId: 'a session', tenantId: 'a tenant' }),
        ),
    ],
    ['has padding', async () => `${await forged()}=`],
    ['is none', async () => 'x.y.z'],
    ['is empty', async () => ''],
  ])('refuses a token that %s', async (_case, make) => {
    await expect(service.verify(await make())).rejects.toThrow(UnauthorizedException);
  });

  it('takes tokens of the secret no longer than they live once there are keys', async () => {
    const keys = { AUTH_SIGNING_KEYS: signingKeys('Of a test').parse(aSigningKey()) };
    const soon = new AccessTokenService({ settings: { ...settings, ...keys } });
    const late = new AccessTokenService({ settings: { ...settings, ...keys, AUTH_ACCESS_TOKEN_TTL_SECONDS: -10 } });
    expect(await soon.verify(await forged())).toMatchObject({ userId: 'someone' });
    await expect(late.verify(await forged())).rejects.toThrow(UnauthorizedException);
  });

  it('keeps the reason as the cause and says the same to every client', async () => {
    const refusals = await Promise.all(
      [await forged({ exp: now - 60 }), 'x.y.z'].map((token) => service.verify(token).catch((error) => error)),
    );
    expect(refusals[0].message).toBe(refusals[1].message);
    expect(refusals[0].cause.code).toBe('ERR_JWT_EXPIRED');
    expect(refusals[0].headers).toEqual({ 'WWW-Authenticate': 'Bearer error="invalid_token"' });
  });
});

/** The token with the role admin written into it, under the old signature. */
function tampered(token: string): string {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return [header, Buffer.from(JSON.stringify({ ...claims, role: 'admin' })).toString('base64url'), signature].join('.');
}
