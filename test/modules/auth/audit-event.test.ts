import { describe, expect, it } from 'vitest';
import { password, registerAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const events = '/auth/audit-events';
const admin = app.as('admin');

interface AuditEvent {
  action: string;
  actorId: string | null;
  subjectId: string | null;
  details: string | null;
}

/** What the trail says of an account, the oldest first. */
async function trailOf(subjectId: string): Promise<AuditEvent[]> {
  return admin.get(events, { where: { subjectId }, orderBy: { createdAt: 'asc' } }).expectData();
}

describe('the audit trail', () => {
  it('keeps what was done to an account, who did it and from where, beyond the life of the account', async () => {
    const { id, email, path } = await registerAccount(app, { email: 'ada@test.example' });
    const { refreshToken } = await app.post('/auth/login', { email, password }).expectData();
    await app.post('/auth/login', { email, password: 'wrong' }).expectError(401, /wrong/);
    await app.post('/auth/logout', { refreshToken });
    await admin.put(path, { role: 'admin', email: 'countess@test.example' }).expectData();
    await admin.put(path, { password: 'another horse battery' }).expectData();
    await admin.delete(path);
    const trail = await trailOf(id);
    expect(trail.map(({ action, details }) => [action, details])).toEqual([
      ['account.registered', null],
      ['login.succeeded', null],
      ['login.failed', null],
      ['session.ended', null],
      ['account.changed', 'role: user to admin, email'],
      ['account.changed', 'password'],
      ['account.deleted', null],
    ]);
    const { id: adminId } = await admin
      .get('/api/v1/users', { where: { email: 'admin@example.com' } })
      .expectData()
      .then(([user]) => user);
    expect(trail.map(({ actorId }) => actorId)).toEqual([id, id, null, id, adminId, adminId, adminId]);
    expect(trail[0]).toMatchObject({ subjectId: id, ipAddress: '127.0.0.1', requestId: expect.any(String) });
  });

  it('keeps failed logins to accounts that are not there too', async () => {
    const before = await app.count('auditEvent', { action: 'login.failed', subjectId: null });
    await app.post('/auth/login', { email: 'nobody@test.example', password }).expectError(401, /wrong/);
    expect(await app.count('auditEvent', { action: 'login.failed', subjectId: null })).toBe(before + 1);
  });

  it('holds no password, token or e-mail address', async () => {
    const { email, path } = await registerAccount(app, { email: 'secret@test.example' });
    const tokens = await app.post('/auth/login', { email, password }).expectData();
    await app.post('/auth/login', { email, password: 'a wrong password' }).expectError(401, /wrong/);
    await admin.put(path, { email: 'new-secret@test.example', password: 'another horse battery' }).expectData();
    const text = JSON.stringify(await admin.get(events).expectData());
    for (const secret of [
      password,
      'a wrong password',
      'another horse',
      'secret@',
      tokens.accessToken,
      tokens.refreshToken,
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/argon2/);
  });

  it('keeps nothing of a change that was refused', async () => {
    const [one, two] = [
      await registerAccount(app, { email: 'one@test.example' }),
      await registerAccount(app, { email: 'two@test.example' }),
    ];
    await admin.put(one.path, { email: two.email }).expectError(409, /already/);
    expect((await trailOf(one.id)).map(({ action }) => action)).toEqual(['account.registered']);
  });
});

describe('GET /auth/audit-events', () => {
  it('is for administrators only: list, pages and single events', async () => {
    const [{ id }] = await admin.get(events).expectData();
    for (const path of [events, `${events}/paginated`, `${events}/${id}`]) {
      expect((await admin.get(path)).status).toBe(200);
      expect((await app.as('user').get(path)).status).toBe(403);
      expect((await app.get(path)).status).toBe(401);
    }
  });

  it('answers 400 to a filter that is not open and 404 to an event that is not there', async () => {
    expect((await admin.get(events, { where: { userAgent: 'x' } })).status).toBe(400);
    expect((await admin.get(`${events}/01900000-0000-7000-8000-000000000000`)).status).toBe(404);
  });

  it('can be written by nobody', async () => {
    const [event] = await admin.get(events).expectData();
    for (const request of [
      admin.post(events, {}),
      admin.put(`${events}/${event.id}`, {}),
      admin.delete(`${events}/${event.id}`),
    ]) {
      expect((await request).status).toBeOneOf([404, 405]);
    }
  });
});

describe('AUTH_AUDIT_DAYS', () => {
  const day = 24 * 60 * 60 * 1000;
  const event = (days: number) => ({ action: 'login.failed', createdAt: new Date(Date.now() - days * day) });
  const record = (to: typeof app) => to.service.container.cradle.auditEventService.record({ action: 'login.failed' });
  const countOf = (to: typeof app, days: number) =>
    to.count('auditEvent', { createdAt: { lt: new Date(Date.now() - days * day) } });

  it('bounds how long an event is kept, and takes old ones out little by little', async () => {
    const short = await bootTestApp({ env: { AUTH_AUDIT_DAYS: '10' } });
    await short.orm.auditEvent.createMany({ data: [event(9), ...Array.from({ length: 1_200 }, () => event(11))] });
    await record(short);
    await expect.poll(() => countOf(short, 8)).toBe(201);
    for (let count = 0; count < 100; count += 1) await record(short);
    await expect.poll(() => countOf(short, 8)).toBe(1);
  });

  it('of 0 keeps all', async () => {
    const all = await bootTestApp({ env: { AUTH_AUDIT_DAYS: '0' } });
    await all.orm.auditEvent.create({ data: event(30_000) });
    for (let count = 0; count < 101; count += 1) await record(all);
    expect(await countOf(all, 20_000)).toBe(1);
  });
});
