import { createSecretKey } from 'node:crypto';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { newAccount } from '../modules/support/accounts.ts';
import { bootTestApp, type TestApp } from '../modules/support/boot-test-app.ts';
import { aSigningKey } from '../support/signing-key.ts';

const secret = 'a secret of this test, 32 bytes or more';
const [next, old] = [aSigningKey('Ed25519'), aSigningKey('P-256')];
const app = await bootTestApp({ env: { AUTH_JWT_SECRET: secret, AUTH_SIGNING_KEYS: next + old } });
const invalid = 'The access token is invalid or has expired; log in or refresh to get a new one';

/** Another service, without a database, that trusts what `issuer` publishes. */
function bootOther(issuer: TestApp): Promise<TestApp> {
  return bootTestApp({
    env: { DATABASE_URL: 'none', AUTH_JWKS_URL: `${issuer.url}/auth/.well-known/jwks.json` },
    configure: (config) => ({ ...config, modules: [{ name: 'notes', enabled: true }] }),
    modulesDirectory: join(import.meta.dirname, '../fixtures/modules-identity'),
  });
}

const other = await bootOther(app);
const send = (to: TestApp, token: string, path: string) =>
  to.send((server) => server.get(path).set('Authorization', `Bearer ${token}`));

describe('tokens that are signed with AUTH_SIGNING_KEYS', () => {
  it('are verified by another service, which knows user, role and tenant', async () => {
    const [account, admin] = [await newAccount(app), await newAccount(app, 'admin')];
    const caller = await send(other, account.tokens.accessToken, '/me').expectData();
    const claimed = { userId: account.id, roles: ['user'], scopes: [], tenantId: account.id, via: 'token' };
    expect(caller).toEqual({ ...claimed, authenticatedAt: expect.stringMatching(/^20\d\d-/) });
    expect((await send(other, account.tokens.accessToken, '/admin')).status).toBe(403);
    expect((await send(other, admin.tokens.accessToken, '/admin')).status).toBe(200);
  });

  it('are published with their public keys only, the one that signs first', async () => {
    const { body, headers } = await app.get('/auth/.well-known/jwks.json');
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(body.keys.map(({ alg }: { alg: string }) => alg)).toEqual(['EdDSA', 'ES256']);
    expect(JSON.stringify(body)).not.toMatch(/"d":|PRIVATE/);
    const header = decodeProtectedHeader(await app.as('admin').token());
    expect(header).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: body.keys[0].kid });
  });

  it('hold when the key that signed them is no longer the first, and not when it was left out', async () => {
    const before = await bootTestApp({ env: { AUTH_SIGNING_KEYS: old } });
    const token = await before.as('user').token();
    expect((await send(other, token, '/me')).status).toBe(200);
    const without = await bootOther(await bootTestApp({ env: { AUTH_SIGNING_KEYS: next } }));
    await send(without, token, '/me').expectError(401, invalid);
  });

  it('hold beside those of before that AUTH_JWT_SECRET has signed, until these have expired', async () => {
    const claims = decodeJwt(await app.as('user').token());
    const sign = (key: string) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(createSecretKey(key, 'utf8'));
    expect((await send(app, await sign(secret), '/api/v1/users')).status).toBe(200);
    await send(app, await sign(`not ${secret}`), '/api/v1/users').expectError(401, invalid);
    const { body } = await app.get('/auth/.well-known/jwks.json');
    await send(app, await sign(JSON.stringify(body.keys[0])), '/api/v1/users').expectError(401, invalid);
    await send(other, await sign(secret), '/me').expectError(401, invalid);
  });

  it('are not accepted from a service that signs with its secret, which publishes no key', async () => {
    const shared = await bootTestApp({ env: { AUTH_JWT_SECRET: secret } });
    expect((await shared.get('/auth/.well-known/jwks.json')).body).toEqual({ keys: [] });
    const third = await bootOther(shared);
    await send(third, await shared.as('user').token(), '/me').expectError(401, invalid);
  });

  it('stop the start where one of the keys is none, without repeating it', async () => {
    const boot = bootTestApp({
      env: { AUTH_SIGNING_KEYS: '-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----' },
    });
    await expect(boot).rejects.toThrow(/AUTH_SIGNING_KEYS: expected private keys in PEM(?!.*secret\n)/);
  });
});
