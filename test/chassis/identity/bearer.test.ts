import { createPublicKey, createSecretKey } from 'node:crypto';
import { type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { FakePeer, jsonAnswer } from '../../../src/chassis/testing/fake-peer.ts';
import { anIssuerKey } from '../../support/token-issuer.ts';
import { asBearer, bootNotes } from './boot-notes.ts';

const rsa = await anIssuerKey('rsa', 'RS256');
const { issuer, log, boot, as } = await bootNotes({ AUTH_CLOCK_TOLERANCE_SECONDS: '60' }, [rsa]);
/** A moment this many seconds from now, as a token states it. */
const inSeconds = (from: number): number => Math.floor(Date.now() / 1000) + from;
const invalid = 'The access token is invalid or has expired; log in or refresh to get a new one';
const stranger = await anIssuerKey('first');

describe('bearer', () => {
  it('finds the keys by discovery and gives the principal that the claims name', async () => {
    const claims = {
      ...{ roles: ['admin', 'auditor'], scope: 'notes:read notes:write', scp: ['mail'] },
      auth_time: Date.UTC(2026, 0, 1) / 1000,
    };
    expect(await as(await issuer.token(claims)).expectData()).toEqual({
      userId: 'ann',
      roles: ['admin', 'auditor'],
      scopes: ['notes:read', 'notes:write', 'mail'],
      authenticatedAt: '2026-01-01T00:00:00.000Z',
      via: 'token',
    });
  });

  it('takes keys from the URL of a setting, roles and tenants from other claims, and names that are no URLs', async () => {
    const other = await boot({
      AUTH_ISSUER: 'our-platform',
      AUTH_JWKS_URL: `${issuer.jwksUrl}?of=all`,
      AUTH_ROLES_CLAIM: 'realm_access.roles',
      AUTH_TENANT_CLAIM: 'https://example.com/tenant',
    });
    issuer.peer.becomes((res) => res.end(JSON.stringify({ keys: [rsa.jwk] })));
    const claims = { iss: 'our-platform', realm_access: { roles: ['user'] }, 'https://example.com/tenant': 'acme' };
    const caller = await asBearer(other, await issuer.token(claims, { key: rsa })).expectData();
    expect(caller).toMatchObject({ userId: 'ann', roles: ['user'], scopes: [], tenantId: 'acme' });
    expect(issuer.peer.received.map(({ url }) => url)).toContain('/keys?of=all');
    issuer.recover();
  });

  it.each([
    ['RS256', async () => issuer.token({}, { key: rsa })],
    ['the type JWT', () => issuer.token({}, { header: { typ: 'JWT' } })],
    ['no type', () => issuer.token({}, { header: { typ: undefined } })],
    ['certificates in its header', () => issuer.token({}, { header: { x5c: ['x'.repeat(2_500)] } })],
    ['several audiences', () => issuer.token({ aud: ['shop', 'others'] })],
    ['an end half a minute ago, which clocks may differ by', () => issuer.token({ exp: inSeconds(-30) })],
  ])('accepts a token with %s', async (_what, make) => {
    await as(await make()).expectData();
  });

  it.each([
    ['has expired by more than clocks may differ', () => issuer.token({ exp: inSeconds(-61) })],
    ['is not valid yet', () => issuer.token({ nbf: inSeconds(600) })],
    ['never expires', () => issuer.token({ exp: undefined })],
    ['is for another audience', () => issuer.token({ aud: 'shop' })],
    ['is for no audience', () => issuer.token({ aud: undefined })],
    ['is of another issuer', () => issuer.token({ iss: 'https://evil.example' })],
    ['is of no issuer', () => issuer.token({ iss: undefined })],
    ['names nobody', () => issuer.token({ sub: undefined })],
    ['names nobody by an empty text', () => issuer.token({ sub: '' })],
    ['names a number', () => issuer.token({ sub: 7 })],
    ['is an ID token by its type', () => issuer.token({}, { header: { typ: 'id_token+jwt' } })],
    ['ends a session', () => issuer.token({}, { header: { typ: 'logout+jwt' } })],
    ['is bound to a key of its holder', () => issuer.token({ cnf: { jkt: 'x' } })],
    ['is signed by another key of the same name', () => issuer.token({}, { key: stranger })],
    ['names the key of another algorithm', () => issuer.token({}, { header: { kid: 'rsa' } })],
    ['names a path as its key', () => issuer.token({}, { key: stranger, header: { kid: '../../../../dev/null' } })],
    ['brings its own key', () => issuer.token({}, { key: stranger, header: { jwk: stranger.jwk } })],
    ['names an extension that must be understood', async () => withHeader({ crit: ['x'], x: 1 })],
    ['has a header longer than any certificates are', () => issuer.token({}, { header: { x: 'x'.repeat(4_000) } })],
    ['is refused by the service', () => issuer.token({ tid: 'banned' })],
    ['is no JWT', async () => 'abc'],
    ['has no JSON in it', async () => 'e30.bm90.e30'],
    ['is null', async () => `e30.${Buffer.from('null').toString('base64url')}.e30`],
    ['is tampered with', async () => (await issuer.token()).replace(/\.[\w-]+\./, `.${encoded({ sub: 'eve' })}.`)],
    ['has no signature (alg none)', async () => new UnsecuredJWT(claims()).encode()],
    ['is signed by HS256 with the public key in PEM', () => confused(publicPem(rsa.jwk))],
    ['is signed by HS256 with the public key as JWK', () => confused(JSON.stringify(rsa.jwk))],
  ])('refuses a token that %s, and does not tell why', async (_what, make) => {
    const asked = issuer.asked;
    const { headers, body } = await as(await make()).expectError(401, invalid);
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(body).not.toHaveProperty('details');
    expect(issuer.asked - asked).toBeLessThan(2);
  });

  it('never goes to an address that a token names', async () => {
    const trap = await FakePeer.open(jsonAnswer({ keys: [stranger.jwk] }));
    const header = { jku: `${trap.url}/jwks`, x5u: `${trap.url}/x5u` };
    await as(await issuer.token({}, { key: stranger, header })).expectError(401, invalid);
    expect(trap.received).toEqual([]);
    trap.close();
  });

  it('takes one type only where a setting says so', async () => {
    const strict = await boot({ AUTH_TOKEN_TYPE: 'application/at+JWT' });
    await asBearer(strict, await issuer.token()).expectData();
    await asBearer(strict, await issuer.token({}, { header: { typ: 'JWT' } })).expectError(401, invalid);
  });

  it('refuses what is remembered of a token once it has expired', async () => {
    const strict = await boot({ AUTH_CLOCK_TOLERANCE_SECONDS: '0' });
    const token = await issuer.token({ exp: inSeconds(3) });
    await asBearer(strict, token).expectData();
    await expect.poll(async () => (await asBearer(strict, token)).status, { timeout: 10_000 }).toBe(401);
  });

  it('answers 401 to a header of 15 KB and refuses one of 20 KB unread', async () => {
    await as('a'.repeat(15_000)).expectError(401, invalid);
    expect((await as('a'.repeat(20_000))).status).toBe(431);
  });

  it('passes on a fault of the function that makes the principal', async () => {
    await as(await issuer.token({ raise: true })).expectError(500, 'a fault of the service');
  });

  it('logs the id of the caller, the reason of a refusal, and no token', async () => {
    log.lines.length = 0;
    const good = await issuer.token({ sub: 'someone-in-the-log' });
    const bad = await issuer.token({ sub: 'nobody-in-the-log', exp: inSeconds(-600) });
    await as(good).expectData();
    await as(bad).expectError(401, invalid);
    const text = JSON.stringify(log.lines);
    expect(text).toContain('"userId":"someone-in-the-log"');
    expect(text).toContain('claim timestamp check failed');
    expect(text).not.toContain('nobody-in-the-log');
    for (const token of [good, bad]) expect(text).not.toContain(token.split('.')[2]);
  });

  it('keeps its routes closed, and says why, where the settings name no keys', async () => {
    const nowhere = await boot({ AUTH_ISSUER: 'slipway' });
    expect((await nowhere.get('/readyz')).status).toBe(503);
    expect((await asBearer(nowhere, await issuer.token())).status).toBe(404);
    expect(JSON.stringify(log.lines)).toContain('AUTH_JWKS_URL');
  });

  it.each([
    ['AUTH_ALGORITHMS', 'HS256'],
    ['AUTH_ALGORITHMS', 'none'],
    ['AUTH_AUDIENCE', 'one,,two'],
    ['AUTH_JWKS_URL', 'file:///etc/keys'],
  ])('refuses to start with %s=%s', async (name, value) => {
    await expect(boot({ [name]: value })).rejects.toThrow(name);
  });
});

function claims(): Record<string, unknown> {
  return { iss: issuer.url, aud: 'notes', sub: 'ann', iat: inSeconds(0), exp: inSeconds(600) };
}

/** A token with another header, under the old signature. */
async function withHeader(changes: object): Promise<string> {
  const [header = '', ...rest] = (await issuer.token()).split('.');
  const fields = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), ...changes };
  return [Buffer.from(JSON.stringify(fields)).toString('base64url'), ...rest].join('.');
}

function confused(secret: string): Promise<string> {
  const header = { alg: 'HS256', kid: 'rsa', typ: 'at+jwt' };
  return new SignJWT(claims()).setProtectedHeader(header).sign(createSecretKey(secret, 'utf8'));
}

function publicPem(jwk: JWK): string {
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  return String(key.export({ type: 'spki', format: 'pem' }));
}

function encoded(changes: object): string {
  return Buffer.from(JSON.stringify({ ...claims(), ...changes })).toString('base64url');
}
