import { createSecretKey } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../../support/boot-test-app.ts';

const secret = 'a secret of this test, 32 bytes or more';
const app = await bootTestApp({ env: { AUTH_JWT_SECRET: secret } });
const now = Math.floor(Date.now() / 1000);
const invalid = 'The access token is invalid or has expired; log in or refresh to get a new one';
const missing = 'Expected the header Authorization: Bearer <access token>';

function claims(changes: object = {}) {
  const all = { iss: 'slipway', aud: 'slipway', sub: 'someone', role: 'admin', iat: now, exp: now + 900, jti: 'j' };
  return { ...all, ...changes };
}

function signed(changes: object = {}, key = secret): Promise<string> {
  const header = { alg: 'HS256', typ: 'at+jwt' };
  return new SignJWT(claims(changes)).setProtectedHeader(header).sign(createSecretKey(key, 'utf8'));
}

const send = (authorization: string, path = '/api/v1/users') =>
  app.send((server) => server.post(path).set('Authorization', authorization).send({}));

describe('a guarded route', () => {
  it('lets a valid token through', async () => {
    await send(`Bearer ${await signed()}`).expectError(400, 'Validation Failed');
    await send(`bearer ${await signed()}`).expectError(400, 'Validation Failed');
  });

  it('answers 401 with a challenge to a request without a token', async () => {
    const response = await app.post('/api/v1/users', {}).expectError(401, missing);
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  it.each(['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer "x"', `Bearer ${'x'.repeat(10)} ,Basic YTpi`])(
    'answers 401 to the header %s',
    async (authorization) => {
      const response = await send(authorization).expectError(401, missing);
      expect(response.headers['www-authenticate']).toBe('Bearer error="invalid_request"');
    },
  );

  it.each([
    ['of another key', () => signed({}, 'b secret of this test, 32 bytes or more')],
    ['without a signature (alg none)', async () => new UnsecuredJWT(claims()).encode()],
    ['for another audience', () => signed({ aud: 'another' })],
    ['of another issuer', () => signed({ iss: 'another' })],
    ['that has expired', () => signed({ exp: now - 60 })],
    [
      'that was tampered with',
      async () => (await signed()).replace(/\.[\w-]+\./, `.${encoded(claims({ sub: 'other' }))}.`),
    ],
    ['that is none', async () => 'x.y.z'],
  ])('answers 401 to a token %s', async (_case, make) => {
    const response = await send(`Bearer ${await make()}`).expectError(401, invalid);
    expect(response.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(response.body).not.toHaveProperty('details');
  });

  it('answers 403 to another role', async () => {
    await send(`Bearer ${await signed({ role: 'user' })}`).expectError(403, 'Your role does not allow this');
    await app.as('user').post('/api/v1/products', {}).expectError(403, 'Your role does not allow this');
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
