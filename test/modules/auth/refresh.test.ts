import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sessionOfRefreshToken } from '../../../src/modules/auth/refresh.token.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const user = { email: 'ada@example.com', password: 'correct horse battery' };
const { id: userId } = await app.post('/auth/register', { ...user, name: 'Ada' }).expectData(201);
const refusal = 'The refresh token is invalid or has expired; log in again';

const logIn = async (): Promise<string> => (await app.post('/auth/login', user).expectData()).refreshToken;
const refresh = (refreshToken: string) => app.post('/auth/refresh', { refreshToken });
const tokenHash = (token: string) => createHash('sha256').update(token).digest('base64url');
const idOf = (token: string) => sessionOfRefreshToken(token) as string;

describe('POST /auth/refresh', () => {
  it('answers 200 with new tokens, both of which work', async () => {
    const first = await logIn();
    const response = await refresh(first);
    expect(response.status).toBe(200);
    expect(response.headers['cache-control']).toBe('no-store');
    const { accessToken, refreshToken, expiresIn } = response.body.data;
    expect(expiresIn).toBe(900);
    expect(refreshToken).not.toBe(first);
    const me = app.send((server) =>
      server.get(`/api/v1/users/${userId}`).set('Authorization', `Bearer ${accessToken}`),
    );
    expect((await me.expectData()).email).toBe(user.email);
    await refresh(refreshToken).expectData();
  });

  it('stores the hash of a token, never the token', async () => {
    const token = await logIn();
    expect(await app.count('session', { tokenHash: tokenHash(token) })).toBe(1);
    expect(await app.count('session', { tokenHash: token })).toBe(0);
  });

  it('answers the second use of a token with 401 and revokes all that grew from its login, nothing else', async () => {
    const [first, other] = [await logIn(), await logIn()];
    const second = (await refresh(first).expectData()).refreshToken;
    await refresh(first).expectError(401, refusal);
    await refresh(second).expectError(401, refusal);
    await refresh(other).expectData();
  });

  it('keeps the second use of a token in the audit trail', async () => {
    const token = await logIn();
    await refresh(token).expectData();
    const before = await app.count('auditEvent', { action: 'session.reused', subjectId: userId });
    await refresh(token).expectError(401, refusal);
    await refresh(token).expectError(401, refusal);
    expect(await app.count('auditEvent', { action: 'session.reused', subjectId: userId })).toBe(before + 1);
  });

  it('answers exactly one of many uses at once with 200, and revokes what that one got', async () => {
    const token = await logIn();
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(token)));
    const successes = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(7);
    expect(successes).toHaveLength(1);
    await refresh(successes[0]?.body.data.refreshToken).expectError(401, refusal);
    expect(await app.count('session', { id: idOf(token) })).toBe(0);
  });

  it('answers 401 to a token that was not used in time', async () => {
    const token = await logIn();
    await app.orm.session.update({ where: { id: idOf(token) }, data: { expiresAt: new Date(Date.now() - 1) } });
    await refresh(token).expectError(401, refusal);
  });

  it('never lengthens a session beyond its longest life', async () => {
    const token = await logIn();
    const endsAt = new Date(Date.now() + 60_000);
    await app.orm.session.update({ where: { id: idOf(token) }, data: { endsAt } });
    const { refreshToken } = await refresh(token).expectData();
    expect((await app.orm.session.findUniqueOrThrow({ where: { id: idOf(token) } })).expiresAt).toEqual(endsAt);
    const over = { endsAt: new Date(Date.now() - 1), expiresAt: new Date(Date.now() - 1) };
    await app.orm.session.update({ where: { id: idOf(token) }, data: over });
    await refresh(refreshToken).expectError(401, refusal);
  });

  it('answers 401 to an unknown token and to an access token, in the same words', async () => {
    await refresh('x'.repeat(64)).expectError(401, refusal);
    await refresh('x'.repeat(43)).expectError(401, refusal);
    await refresh('eyJhbGciOiJIUzI1NiJ9.e30.c2ln').expectError(401, refusal);
  });

  it('gives the role that the user has now', async () => {
    const promoted = { email: 'grace@example.com', password: user.password };
    const { id } = await app.post('/auth/register', { ...promoted, name: 'Grace' }).expectData(201);
    const { refreshToken } = await app.post('/auth/login', promoted).expectData();
    await app.as('admin').put(`/api/v1/users/${id}`, { role: 'admin' }).expectData();
    const { accessToken } = await refresh(refreshToken).expectData();
    const users = app.send((server) =>
      server.get('/api/v1/users').query({ where: '{"role":"admin"}' }).set('Authorization', `Bearer ${accessToken}`),
    );
    await users.expectData();
  });

  it.each([
    {},
    { refreshToken: '' },
    { refreshToken: 1 },
    { refreshToken: 'x'.repeat(129) },
    { refreshToken: 'x', more: 1 },
  ])('answers 400 to the body %j', async (body) => {
    await app.post('/auth/refresh', body).expectError(400, 'Validation Failed');
  });
});

describe('a token made up from the identifier of a session', () => {
  const forged = (token: string) => {
    const bytes = Buffer.from(token, 'base64url');
    return [bytes.subarray(0, 48), Buffer.concat([bytes.subarray(0, 16), Buffer.alloc(48, 7)])].map((made) =>
      made.toString('base64url'),
    );
  };

  it('is answered 401 and ends no session', async () => {
    const token = await logIn();
    for (const made of forged(token)) await refresh(made).expectError(401, refusal);
    await refresh(token).expectData();
  });

  it('logs nobody out', async () => {
    const token = await logIn();
    for (const made of forged(token)) expect((await app.post('/auth/logout', { refreshToken: made })).status).toBe(204);
    await refresh(token).expectData();
  });
});

it('exchanges a token of before tokens had seals', async () => {
  const old = Buffer.from(await logIn(), 'base64url')
    .subarray(0, 48)
    .toString('base64url');
  await app.orm.session.update({ where: { id: idOf(old) }, data: { tokenHash: tokenHash(old) } });
  await refresh(old).expectData();
});

describe('POST /auth/logout', () => {
  it('answers 204 and revokes all that grew from the login', async () => {
    const first = await logIn();
    const second = (await refresh(first).expectData()).refreshToken;
    const response = await app.post('/auth/logout', { refreshToken: second });
    expect(response.status).toBe(204);
    await refresh(second).expectError(401, refusal);
  });

  it('answers 204 to an unknown token, so that logging out twice is no error', async () => {
    expect((await app.post('/auth/logout', { refreshToken: 'x'.repeat(43) })).status).toBe(204);
  });

  it('answers 400 without a token', async () => {
    await app.post('/auth/logout', {}).expectError(400, 'Validation Failed');
  });
});

describe('sessions', () => {
  it('end when an administrator sets a new password', async () => {
    const token = await logIn();
    const password = 'another horse battery';
    await app.as('admin').put(`/api/v1/users/${userId}`, { password }).expectData();
    await refresh(token).expectError(401, refusal);
    await app.post('/auth/login', user).expectError(401, /wrong/);
    await app.post('/auth/login', { ...user, password }).expectData();
  });

  it('end when the user is deleted', async () => {
    const doomed = { email: 'doomed@example.com', password: user.password };
    const { id } = await app.post('/auth/register', { ...doomed, name: 'Doomed' }).expectData(201);
    const { refreshToken } = await app.post('/auth/login', doomed).expectData();
    expect((await app.as('admin').delete(`/api/v1/users/${id}`)).status).toBe(204);
    await refresh(refreshToken).expectError(401, refusal);
    expect(await app.count('session', { userId: id })).toBe(0);
  });
});
