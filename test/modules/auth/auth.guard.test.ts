import { createSecretKey } from 'node:crypto';
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { newAccount, password } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const secret = 'a secret of this test, 32 bytes or more';
const app = await bootTestApp({ env: { AUTH_JWT_SECRET: secret } });
const now = Math.floor(Date.now() / 1000);
const invalid = 'The access token is invalid or has expired; log in or refresh to get a new one';
const missing = 'Expected the header Authorization: Bearer <access token>';

const { sub, sid } = decodeJwt<{ sub: string; sid: string }>(await app.as('admin').token());

function claims(changes: object = {}) {
  const all = { iss: 'slipway', aud: 'slipway', sub, sid, role: 'admin', iat: now, exp: now + 900, jti: 'j' };
  return { ...all, ...changes };
}

function signed(changes: object = {}, key = secret): Promise<string> {
  const header = { alg: 'HS256', typ: 'at+jwt' };
  return new SignJWT(claims(changes)).setProtectedHeader(header).sign(createSecretKey(key, 'utf8'));
}

const send = (authorization: string, path = '/api/v1/users') =>
  app.send((server) => server.post(path).set('Authorization', authorization).send({}));

const ended = 'The session has ended; log in again';

/** Leaves what a reader sees who read the session before the account was deleted, and the account after. */
async function removeWithoutSessions(id: string): Promise<void> {
  const { client, provider } = app.service.database;
  const remove = `DELETE FROM "users" WHERE "id" = '${id}'`;
  if (provider === 'postgresql') {
    const block = `SET LOCAL session_replication_role = replica; ${remove};`;
    await client.$executeRawUnsafe(`DO $$ BEGIN ${block} END $$`);
    return;
  }
  await client.$executeRawUnsafe('PRAGMA foreign_keys = OFF');
  await client.$executeRawUnsafe(remove);
  await client.$executeRawUnsafe('PRAGMA foreign_keys = ON');
}

describe('a guard asks the database, so that', () => {
  it('an administrator who was demoted cannot raise itself again with the old token', async () => {
    const admin = await newAccount(app, 'admin');
    await app.as('admin').put(admin.path, { role: 'user' }).expectData();
    await admin.as('put', admin.path, { role: 'admin' }).expectError(403, /administrators/);
    await admin.as('post', '/api/v1/products', {}).expectError(403, 'Your role does not allow this');
    expect(await app.count('user', { id: admin.id, role: 'user' })).toBe(1);
  });

  it('an administrator who was demoted reads no more than a user', async () => {
    const admin = await newAccount(app, 'admin');
    await app.as('admin').put(admin.path, { role: 'user' }).expectData();
    const [user] = await admin.as('get', '/api/v1/users').expectData();
    expect(user).not.toHaveProperty('email');
    await admin.as('get', '/auth/audit-events').expectError(403, 'Your role does not allow this');
  });

  it('an administrator who was deleted makes no other one with the old token', async () => {
    const admin = await newAccount(app, 'admin');
    expect((await app.as('admin').delete(admin.path)).status).toBe(204);
    const body = { email: 'second@test.example', name: 'Second', password, role: 'admin' };
    await admin.as('post', '/api/v1/users', body).expectError(401, ended);
    expect(await app.count('user', { email: body.email })).toBe(0);
  });

  it('an account that is deleted while its session is read is answered 401, not 500', async () => {
    const { id, path, as, tokens } = await newAccount(app);
    await removeWithoutSessions(id);
    await as('put', path, { name: 'Eve' }).expectError(401, ended);
    await app
      .post('/auth/refresh', { refreshToken: tokens.refreshToken })
      .expectError(401, 'The refresh token is invalid or has expired; log in again');
    expect((await app.post('/auth/logout', { refreshToken: tokens.refreshToken })).status).toBe(204);
  });

  it('a session that has ended writes nothing with its access token', async () => {
    const user = await newAccount(app);
    expect((await app.post('/auth/logout', { refreshToken: user.tokens.refreshToken })).status).toBe(204);
    const { headers } = await user.as('put', user.path, { name: 'Eve' }).expectError(401, ended);
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    await user.as('post', '/api/v1/profiles', {}).expectError(401, ended);
    await user.as('get', '/auth/sessions').expectError(401, ended);
  });

  it('a session that has expired, or that is of another user, writes nothing', async () => {
    const [expired, other] = [await newAccount(app), await newAccount(app)];
    const session = decodeJwt(expired.tokens.accessToken)['sid'] as string;
    await send(`Bearer ${await signed({ sub: other.id, sid: session })}`).expectError(401, ended);
    await app.orm.session.update({ where: { id: session }, data: { expiresAt: new Date(Date.now() - 1) } });
    await expired.as('put', expired.path, { name: 'Eve' }).expectError(401, ended);
  });

  it('a token never gives more than the role of now, whatever it says', async () => {
    const { id, tokens } = await newAccount(app);
    const forged = await signed({ sub: id, sid: decodeJwt(tokens.accessToken)['sid'] as string, role: 'admin' });
    await send(`Bearer ${forged}`).expectError(403, 'Your role does not allow this');
  });
});

describe('an access token of a user, which is good for reads until it expires,', () => {
  it('reads after a logout and after the account is gone, as the page on the security model says, and writes nothing', async () => {
    const user = await newAccount(app);
    await app.post('/auth/logout', { refreshToken: user.tokens.refreshToken });
    await user.as('get', '/api/v1/users').expectData();
    expect((await app.as('admin').delete(user.path)).status).toBe(204);
    await user.as('get', '/api/v1/users').expectData();
    await user.as('post', '/api/v1/profiles', {}).expectError(401, ended);
    const { exp = 0, iat = 0 } = decodeJwt(user.tokens.accessToken);
    expect(exp - iat).toBe(900);
    const expired = await signed({ sub: user.id, role: 'user', iat: now - 900, exp: now - 10 });
    const late = app.send((server) => server.get('/api/v1/users').set('Authorization', `Bearer ${expired}`));
    await late.expectError(401, invalid);
  });
});

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
    await app.as('user').post('/api/v1/products', {}).expectError(403, 'Your role does not allow this');
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
