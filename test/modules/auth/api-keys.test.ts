import { randomBytes, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { TestRequest } from 'slipway/testing';
import { describe, expect, it } from 'vitest';
import { newAccount, password } from '../support/accounts.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const refused = 'The API key is invalid, has expired or was revoked';
const scopes = ['catalog:write', 'users:read'];
const day = 86_400_000;

type Account = Awaited<ReturnType<typeof newAccount>>;

/** A new key of an account. */
async function keyOf(account: Account, body: object = {}) {
  return account.as('post', '/auth/api-keys', { name: 'import', scopes, ...body }).expectData(201);
}

function using(
  key: string,
  method: 'get' | 'post' | 'delete',
  path: string,
  body?: object,
  to: TestApp = app,
): TestRequest {
  return to.send((server) => server[method](path).set('X-API-Key', key).send(body));
}

const users = '/api/v1/users';
const category = () => ({ name: `made with a key ${randomUUID()}` });

describe('an API key', () => {
  it('is shown once, stored as a hash, and found by scanners for secrets', async () => {
    const account = await newAccount(app);
    const request = account.as('post', '/auth/api-keys', { name: ' import ', scopes, expiresInDays: 30 });
    const { headers, body } = await request;
    expect(headers['cache-control']).toBe('no-store');
    const { key, ...shown } = body.data;
    expect(key).toMatch(/^slipway_[0-9a-f]{104}$/);
    expect(shown).toMatchObject({ name: 'import', scopes });
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).toBe(30 * day);
    expect(await account.as('get', '/auth/api-keys').expectData()).toEqual([{ ...shown, lastUsedAt: null }]);
    const stored = await app.orm.apiKey.findUniqueOrThrow({ where: { id: shown.id } });
    expect(stored.hash).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(stored)).not.toContain(key.slice(40, 104));
  });

  it('is made of a session only for 15 minutes after the password, so that a stolen token becomes none', async () => {
    const account = await newAccount(app);
    const authenticatedAt = new Date(Date.now() - 16 * 60_000);
    await app.orm.session.updateMany({ where: { userId: account.id }, data: { authenticatedAt } });
    const make = () => account.as('post', '/auth/api-keys', { name: 'import', scopes });
    const { headers } = await make().expectError(401, /^Confirm your password/);
    expect(headers['www-authenticate']).toBe('Bearer error="insufficient_user_authentication", max_age="900"');
    expect(await app.count('apiKey', { userId: account.id })).toBe(0);
    await account.as('post', '/auth/reauthenticate', { password });
    await make().expectData(201);
  });

  it('acts as its owner, with the role and within the scopes of now', async () => {
    const admin = await newAccount(app, 'admin');
    const { key } = await keyOf(admin);
    const made = await using(key, 'post', '/api/v1/categories', category()).expectData(201);
    expect(await app.count('category', { id: made.id })).toBe(1);
    const { key: reader } = await keyOf(admin, { scopes: ['users:read'] });
    const refusal = await using(reader, 'post', '/api/v1/categories', category()).expectError(
      403,
      'This needs the scope catalog:write',
    );
    expect(refusal.headers['www-authenticate']).toBe('ApiKey error="insufficient_scope", scope="catalog:write"');
    await app.as('admin').put(admin.path, { role: 'user' }).expectData();
    await using(key, 'post', '/api/v1/categories', category()).expectError(403, 'Your role does not allow this');
  });

  it('gives nobody more than the role allows', async () => {
    const { key } = await keyOf(await newAccount(app));
    await using(key, 'post', '/api/v1/categories', category()).expectError(403, 'Your role does not allow this');
    const [other] = await using(key, 'get', users).expectData();
    expect(other).not.toHaveProperty('email');
  });

  it('does nothing that no scope names: neither changes of accounts, nor other keys, nor sessions', async () => {
    const admin = await newAccount(app, 'admin');
    const { key, id } = await keyOf(admin);
    for (const [method, path] of [
      ['post', users],
      ['delete', admin.path],
      ['post', '/api/v1/profiles'],
      ['get', '/auth/audit-events'],
      ['get', '/auth/sessions'],
      ['get', '/auth/api-keys'],
      ['post', '/auth/api-keys'],
      ['delete', `/auth/api-keys/${id}`],
      ['post', '/auth/logout-all'],
    ] as const) {
      await using(key, method, path, {}).expectError(403, 'An API key cannot do this');
    }
  });

  it.each([
    ['of nobody', () => aKey('slipway')],
    ['with another secret', (key: string) => withSecret(key)],
    ['with a wrong checksum', (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['in capitals', (key: string) => key.toUpperCase()],
    ['of another prefix', () => aKey('other')],
    ['that is no key', () => '../../etc/passwd'],
    ['that is empty', () => ' '],
    ['of 15 KB', () => `slipway_${'a'.repeat(15_000)}`],
  ])('%s is refused, in the same words for every cause', async (_what, change) => {
    const { key } = await keyOf(await newAccount(app));
    const { headers } = await using(change(key), 'get', users).expectError(401, refused);
    expect(headers['www-authenticate']).toBe('ApiKey error="invalid_key"');
    await using(key, 'get', users).expectData();
  });

  it('is refused from the moment at which it expires', async () => {
    const { key, id } = await keyOf(await newAccount(app));
    await using(key, 'get', users).expectData();
    const soon = { where: { id }, data: { expiresAt: new Date(Date.now() - 1) } };
    await app.orm.apiKey.update(soon);
    await using(key, 'delete', '/api/v1/products/1').expectError(401, refused);
    const fresh = await bootOther();
    await using(key, 'get', users, undefined, fresh).expectError(401, refused);
  });

  it('is no more than a wrong token beside which it comes', async () => {
    const account = await newAccount(app);
    const { key } = await keyOf(account);
    const both = (token: string) =>
      app.send((server) => server.get(users).set('X-API-Key', key).set('Authorization', `Bearer ${token}`));
    expect((await both(account.tokens.accessToken)).status).toBe(200);
    expect((await both(`${account.tokens.accessToken.slice(0, -4)}AAAA`)).status).toBe(401);
  });

  it('is told of by a request without credentials, and in the API document', async () => {
    const { headers } = await app
      .get(users)
      .expectError(401, 'Expected the header Authorization: Bearer <access token> or the header X-API-Key: <API key>');
    expect(headers['www-authenticate']).toBe('Bearer, ApiKey');
    const { body } = await app.get('/api-docs.json');
    expect(body.components.securitySchemes.apiKey).toEqual({ type: 'apiKey', in: 'header', name: 'X-API-Key' });
    expect(body.paths[users].get.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
    expect(body.paths[users].post.security).toEqual([{ bearer: [] }]);
  });
});

describe('revoking an API key', () => {
  it('ends it at once where it was revoked, and everywhere for what it would write', async () => {
    const account = await newAccount(app, 'admin');
    const { key, id } = await keyOf(account);
    const other = await bootOther();
    await using(key, 'get', users).expectData();
    await using(key, 'get', users, undefined, other).expectData();
    expect((await account.as('delete', `/auth/api-keys/${id}`)).status).toBe(204);
    await using(key, 'get', users).expectError(401, refused);
    await using(key, 'post', '/api/v1/categories', category()).expectError(401, refused);
    await using(key, 'post', '/api/v1/categories', category(), other).expectError(401, refused);
    // What the other replica knew is gone with the write that it refused.
    await using(key, 'get', users, undefined, other).expectError(401, refused);
  });

  it('is for its owner: others are told that there is no such key', async () => {
    const [owner, other] = [await newAccount(app), await newAccount(app, 'admin')];
    const { key, id } = await keyOf(owner);
    await other.as('delete', `/auth/api-keys/${id}`).expectError(404, 'API key not found');
    await other.as('delete', '/auth/api-keys/none').expectError(404, 'API key not found');
    expect(await other.as('get', '/auth/api-keys').expectData()).toEqual([]);
    await using(key, 'get', users).expectData();
  });

  it('is done by deleting the account', async () => {
    const account = await newAccount(app);
    const { key, id } = await keyOf(account);
    await app.as('admin').delete(account.path);
    expect(await app.count('apiKey', { id })).toBe(0);
    await using(key, 'get', users).expectError(401, refused);
  });

  it('is in the audit trail, as making it is, without the key', async () => {
    const account = await newAccount(app);
    const { key, id } = await keyOf(account, { scopes: ['users:read', 'users:read'] });
    await account.as('delete', `/auth/api-keys/${id}`);
    const events = await app.orm.auditEvent.findMany({
      where: { subjectId: account.id },
      orderBy: { createdAt: 'asc' },
    });
    const own = events.filter(({ action }) => action.startsWith('apiKey.'));
    expect(own.map(({ action, details }) => [action, details])).toEqual([
      ['apiKey.created', `${id}: users:read`],
      ['apiKey.revoked', id],
    ]);
    expect(JSON.stringify(events)).not.toContain(key.slice(40, 104));
  });
});

describe('the use of API keys', () => {
  it('is stored without a write for each request', async () => {
    const noted = await bootTestApp();
    const account = await newAccount(noted);
    const { key, id } = await account.as('post', '/auth/api-keys', { name: 'often', scopes }).expectData(201);
    const before = Date.now();
    await Promise.all(Array.from({ length: 20 }, () => using(key, 'get', users, undefined, noted).expectData()));
    const { lastUsedAt } = await noted.orm.apiKey.findUniqueOrThrow({ where: { id } });
    expect(lastUsedAt).toBeNull();
    const { apiKeyRepository } = noted.service.container.cradle;
    await noted.service.run(() =>
      apiKeyRepository.noteUses(
        new Map([
          [id, new Date(before)],
          [randomUUID(), new Date()],
        ]),
      ),
    );
    const [stored] = await account.as('get', '/auth/api-keys').expectData();
    expect(stored.lastUsedAt).toBe(new Date(before).toISOString());
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes.0'],
    [{ expiresInDays: 0 }, 'expiresInDays'],
    [{ expiresInDays: 366 }, 'expiresInDays'],
  ])('begins with a body that holds: %j', async (body, field) => {
    const { as } = await newAccount(app);
    const { body: answer } = await as('post', '/auth/api-keys', { name: 'x', scopes, ...body });
    expect([answer.statusCode, Object.keys(answer.details.errors)]).toEqual([400, [field]]);
  });

  it('is for 20 keys of a user at most, however many are made at once; expired ones do not count', async () => {
    const account = await newAccount(app);
    const make = () => account.as('post', '/auth/api-keys', { name: 'x', scopes });
    const statuses = (await Promise.all(Array.from({ length: 22 }, make))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 409)).toHaveLength(2);
    const [one] = await account.as('get', '/auth/api-keys').expectData();
    await app.orm.apiKey.update({ where: { id: one.id }, data: { expiresAt: new Date(0) } });
    expect((await make()).status).toBe(201);
  });
});

/** The same key with another secret, and a checksum that holds. */
function withSecret(key: string): string {
  return aKey('slipway', key.slice('slipway_'.length, 40));
}

/** A key that nobody has, with a checksum that holds. */
function aKey(prefix: string, id = randomUUID().replaceAll('-', '')): string {
  const content = id + randomBytes(32).toString('hex');
  return `${prefix}_${content}${crc32(content).toString(16).padStart(8, '0')}`;
}

/** Another replica on the same database. */
function bootOther(): Promise<TestApp> {
  return bootTestApp({
    env: { DATABASE_URL: app.service.settings.DATABASE_URL, AUTH_JWT_SECRET: app.service.settings.AUTH_JWT_SECRET },
  });
}
