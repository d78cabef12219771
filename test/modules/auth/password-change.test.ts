import { describe, expect, it, onTestFinished } from 'vitest';
import { newAccount, password, sendAs } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const newPassword = 'another horse battery';

const put = (accessToken: string, body: object) => sendAs(app, { accessToken }, 'put', '/auth/password', body);
const reauthenticate = (accessToken: string, body: object) =>
  sendAs(app, { accessToken }, 'post', '/auth/reauthenticate', body);
const refresh = (refreshToken: string) => app.post('/auth/refresh', { refreshToken });

describe('PUT /auth/password', () => {
  it('changes the password, ends all other sessions and answers 200 with the tokens of a new one', async () => {
    const { id, email, tokens } = await newAccount(app);
    const other = await app.post('/auth/login', { email, password }).expectData();
    const response = await put(tokens.accessToken, { currentPassword: password, newPassword });
    expect(response.status).toBe(200);
    expect(response.headers['cache-control']).toBe('no-store');
    for (const old of [tokens, other]) expect((await refresh(old.refreshToken)).status).toBe(401);
    await refresh(response.body.data.refreshToken).expectData();
    await app.post('/auth/login', { email, password }).expectError(401, /wrong/);
    await app.post('/auth/login', { email, password: newPassword }).expectData();
    expect(await app.count('auditEvent', { action: 'password.changed', subjectId: id, actorId: id })).toBe(1);
  });

  it.each([
    ['a wrong current password', { currentPassword: 'wrong horse battery', newPassword }, 'currentPassword'],
    [
      'a new password that is easy to guess',
      { currentPassword: password, newPassword: 'password2024!' },
      'newPassword',
    ],
    ['a new password of 11 characters', { currentPassword: password, newPassword: 'kX9#mQ2$vL7' }, 'newPassword'],
    ['no current password', { newPassword }, 'currentPassword'],
    ['an unknown field', { currentPassword: password, newPassword, role: 'admin' }, 'role'],
  ])('answers 400 to %s and changes nothing', async (_case, body, field) => {
    const { id, tokens } = await newAccount(app);
    const before = await app.orm.user.findUniqueOrThrow({ where: { id } });
    const { body: answer } = await put(tokens.accessToken, body).expectError(400, 'Validation Failed');
    expect(Object.keys(answer.details.errors)).toEqual([field]);
    expect(JSON.stringify(answer)).not.toContain('horse');
    expect(await app.orm.user.findUniqueOrThrow({ where: { id } })).toEqual(before);
    await refresh(tokens.refreshToken).expectData();
  });

  it('answers 401 to nobody and to a session that has ended', async () => {
    expect((await app.put('/auth/password', { currentPassword: password, newPassword })).status).toBe(401);
    const { tokens } = await newAccount(app);
    await app.post('/auth/logout', { refreshToken: tokens.refreshToken });
    await put(tokens.accessToken, { currentPassword: password, newPassword }).expectError(401, /session has ended/);
  });
});

describe('POST /auth/reauthenticate', () => {
  it('answers 204 to the password, 400 to another one, and keeps both in the audit trail', async () => {
    const { id, tokens } = await newAccount(app);
    expect((await reauthenticate(tokens.accessToken, { password })).status).toBe(204);
    await reauthenticate(tokens.accessToken, { password: 'wrong' }).expectError(400, 'Validation Failed', {
      errors: { password: ['The password is wrong'] },
    });
    expect(await app.count('auditEvent', { action: 'password.confirmed', subjectId: id })).toBe(1);
    expect(await app.count('auditEvent', { action: 'password.refused', subjectId: id })).toBe(1);
  });

  it('answers 401 to nobody', async () => {
    expect((await app.post('/auth/reauthenticate', { password })).status).toBe(401);
  });

  it.each([
    ['was ended by a logout', { endedAt: new Date() }],
    ['expired', { expiresAt: new Date(0) }],
  ])('answers 401 where the session %s while the password was checked, and confirms nothing', async (_how, end) => {
    const { id, tokens } = await newAccount(app);
    const { passwordService } = app.service.container.cradle;
    const verify = passwordService.verify.bind(passwordService);
    onTestFinished(() => void Reflect.deleteProperty(passwordService, 'verify'));
    passwordService.verify = async (...args: Parameters<typeof verify>) => {
      await app.orm.session.updateMany({ where: { userId: id }, data: end });
      return verify(...args);
    };
    const before = await app.orm.session.findFirstOrThrow({ where: { userId: id } });
    const { headers } = await reauthenticate(tokens.accessToken, { password }).expectError(401, /session has ended/);
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(await app.orm.session.findFirstOrThrow({ where: { userId: id } })).toEqual({ ...before, ...end });
    expect(await app.count('auditEvent', { action: 'password.confirmed', subjectId: id })).toBe(0);
  });
});

describe('changes that administrators make to accounts', () => {
  const stale = 'Confirm your password with POST /auth/reauthenticate, then try again';

  /** An administrator whose password was given 16 minutes ago. */
  async function staleAdmin() {
    const { id, tokens } = await newAccount(app);
    await app.orm.user.update({ where: { id }, data: { role: 'admin' } });
    const authenticatedAt = new Date(Date.now() - 16 * 60_000);
    await app.orm.session.updateMany({ where: { userId: id }, data: { authenticatedAt } });
    const { accessToken } = await refresh(tokens.refreshToken).expectData();
    return { id, accessToken };
  }

  const send = (accessToken: string, method: 'post' | 'put' | 'delete', path: string, body?: object) =>
    app.send((server) => server[method](path).set('Authorization', `Bearer ${accessToken}`).send(body));

  it('ask for the password again after 15 minutes: of e-mail, password, role, creation and deletion', async () => {
    const [{ accessToken }, target] = [await staleAdmin(), await newAccount(app)];
    const before = await app.orm.user.findUniqueOrThrow({ where: { id: target.id } });
    const path = `/api/v1/users/${target.id}`;
    for (const change of [{ email: 'x@test.example' }, { password: newPassword }, { role: 'admin' }]) {
      const { headers } = await send(accessToken, 'put', path, change).expectError(401, stale);
      expect(headers['www-authenticate']).toBe('Bearer error="insufficient_user_authentication", max_age="900"');
    }
    await send(accessToken, 'delete', path).expectError(401, stale);
    const created = { email: 'y@test.example', name: 'Y', password, role: 'admin' };
    await send(accessToken, 'post', '/api/v1/users', created).expectError(401, stale);
    expect(await app.orm.user.findUniqueOrThrow({ where: { id: target.id } })).toEqual(before);
    expect(await app.count('user', { email: created.email })).toBe(0);
    await send(accessToken, 'put', path, { name: 'Another name' }).expectData();
    expect((await reauthenticate(accessToken, { password })).status).toBe(204);
    await send(accessToken, 'put', path, { role: 'admin' }).expectData();
  });
});
