import { describe, expect, it } from 'vitest';
import { password, registerAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const users = '/api/v1/users';
const [ada, eve] = [await registerAccount(app, { name: 'Ada' }), await registerAccount(app, { name: 'Eve' })];
const stranger = `${users}/01900000-0000-7000-8000-000000000000`;

describe('GET /users and /users/paginated', () => {
  it('give every user the public fields, and no more, of all users', async () => {
    const where = { name: 'Ada' };
    const expected = [{ id: ada.id, name: 'Ada', avatarUrl: null, createdAt: expect.any(String) }];
    for (const client of [app.as('user'), ada.client]) {
      expect(await client.get(users, { where }).expectData()).toEqual(expected);
      expect(await client.get(`${users}/paginated`, { where }).expectData()).toEqual(expected);
    }
  });

  it('answer 401 to nobody: names are not for strangers to collect', async () => {
    for (const closed of [users, `${users}/paginated`, ada.path]) expect((await app.get(closed)).status).toBe(401);
  });

  it('give an administrator the private fields, never the password hash', async () => {
    const [user] = await app
      .as('admin')
      .get(users, { where: { email: ada.email } })
      .expectData();
    expect(Object.keys(user).sort()).toEqual([
      'avatarUrl',
      'createdAt',
      'email',
      'id',
      'name',
      'organizationId',
      'role',
      'updatedAt',
    ]);
  });

  it('include the profile on request', async () => {
    await ada.client.post('/api/v1/profiles', { location: 'London' }).expectData(201);
    const query = { where: { profile: { location: 'London' }, name: 'Ada' }, include: { profile: true } };
    const [user] = await app.as('user').get(users, query).expectData();
    expect(user.profile).toMatchObject({ userId: ada.id, location: 'London' });
  });

  it('answer 400 to a page size above 100 and to parameters that they do not know', async () => {
    expect((await app.as('user').get(`${users}/paginated`, { pageSize: 101 })).status).toBe(400);
    expect((await app.as('user').get(users, { page: 1 })).status).toBe(400);
  });
});

describe('GET /users/:id', () => {
  it('gives the private fields to the user itself and an administrator only', async () => {
    for (const client of [ada.client, app.as('admin')]) {
      const user = await client.get(ada.path).expectData();
      expect(user).toMatchObject({ email: ada.email, role: 'user', updatedAt: expect.any(String) });
      expect(user).not.toHaveProperty('passwordHash');
    }
    for (const client of [app.as('user'), eve.client]) {
      const user = await client.get(ada.path).expectData();
      expect(Object.keys(user).sort()).toEqual(['avatarUrl', 'createdAt', 'id', 'name']);
    }
  });

  it('answers 404 for a user that is not there, 400 for an include that is not open', async () => {
    expect((await eve.client.get(stranger)).status).toBe(404);
    expect((await eve.client.get(ada.path, { include: { sessions: true } })).status).toBe(400);
  });
});

describe('POST /users', () => {
  const body = { email: 'new@test.example', name: 'New', password, role: 'admin' };

  it('lets an administrator create a user of any role, who can log in', async () => {
    const response = await app.as('admin').post(users, body);
    expect(response.status).toBe(201);
    expect(response.headers['location']).toBe(`${users}/${response.body.data.id}`);
    expect(response.body.data).toMatchObject({ email: body.email, name: 'New', role: 'admin', avatarUrl: null });
    expect(JSON.stringify(response.body)).not.toMatch(/password|argon2/);
    await app.post('/auth/login', { email: body.email, password }).expectData();
  });

  it('answers 401 to nobody and 403 to a user, and stores nothing', async () => {
    const before = await app.count('user');
    expect((await app.post(users, { ...body, email: 'no@test.example' })).status).toBe(401);
    expect((await app.as('user').post(users, { ...body, email: 'no@test.example' })).status).toBe(403);
    expect(await app.count('user')).toBe(before);
  });

  it('answers 409 to an address that is taken', async () => {
    expect((await app.as('admin').post(users, { ...body, email: ada.email.toUpperCase() })).status).toBe(409);
  });

  it.each([
    ['passwordHash', 'x'],
    ['id', 'x'],
    ['role', 'root'],
    ['password', 'short'],
    ['password', 'password2024!'],
  ])('answers 400 to a body with the %s %s', async (field, value) => {
    const response = await app.as('admin').post(users, { ...body, email: 'no@test.example', [field]: value });
    expect(response.status).toBe(400);
    expect(Object.keys(response.body.details.errors)).toContain(field);
  });
});

describe('PUT /users/:id', () => {
  it('lets a user change its own name', async () => {
    const user = await eve.client.put(eve.path, { name: 'Eva' }).expectData();
    expect(user).toMatchObject({ name: 'Eva', email: eve.email });
    expect(user).not.toHaveProperty('passwordHash');
  });

  it.each([{ role: 'admin' }, { email: 'other@test.example' }, { password }, { name: 'Eva', role: 'user' }])(
    'answers 403 to a user that changes its own %j, and changes nothing',
    async (body) => {
      const before = await app.orm.user.findUniqueOrThrow({ where: { id: eve.id } });
      expect((await eve.client.put(eve.path, body)).status).toBe(403);
      expect(await app.orm.user.findUniqueOrThrow({ where: { id: eve.id } })).toEqual(before);
    },
  );

  it('answers 403 to another user and 401 to nobody, and changes nothing', async () => {
    expect((await eve.client.put(ada.path, { name: 'Mallory' })).status).toBe(403);
    expect((await app.put(ada.path, { name: 'Mallory' })).status).toBe(401);
    expect((await eve.client.put(ada.path, { name: 'Mallory', id: eve.id })).status).toBe(403);
    expect(await app.count('user', { name: 'Mallory' })).toBe(0);
  });

  it('lets an administrator change everything but what belongs to the service', async () => {
    const { id, path } = await registerAccount(app, { name: 'Grace' });
    const change = { email: 'hopper@test.example', name: 'Grace Hopper', role: 'admin' };
    expect(await app.as('admin').put(path, change).expectData()).toMatchObject({ id, ...change });
    for (const field of ['id', 'avatarUrl', 'passwordHash', 'createdAt', 'profile']) {
      expect((await app.as('admin').put(path, { [field]: 'x' })).status).toBe(400);
    }
  });

  it('tells in the trail which role it took and gave, also where two change it at once', async () => {
    const { id, path } = await registerAccount(app, { name: 'Grace' });
    const give = (role: string) => app.as('admin').put(path, { role }).expectData();
    for (let round = 0; round < 5; round += 1) await Promise.all([give('admin'), give('user')]);
    const events = await app.orm.auditEvent.findMany({ where: { subjectId: id, details: { startsWith: 'role: ' } } });
    const gave = events.filter(({ details }) => details === 'role: user to admin').length;
    const took = events.filter(({ details }) => details === 'role: admin to user').length;
    const { role } = await app.orm.user.findUniqueOrThrow({ where: { id } });
    expect(gave - took).toBe(role === 'admin' ? 1 : 0);
    expect(gave).toBeGreaterThan(0);
  });

  it('answers 404 for a user that is not there and 409 for an address that is taken', async () => {
    expect((await app.as('admin').put(stranger, { name: 'x' })).status).toBe(404);
    expect((await app.as('admin').put(stranger, { password })).status).toBe(404);
    expect((await app.as('admin').put(eve.path, { email: ada.email })).status).toBe(409);
  });
});

describe('an administrator', () => {
  it('neither demotes nor deletes itself, however it writes its identifier, so that one always remains', async () => {
    const { id } = await app.orm.user.findUniqueOrThrow({ where: { email: 'admin@example.com' } });
    for (const own of [id, id.toUpperCase()]) {
      const path = `/api/v1/users/${own}`;
      await app
        .as('admin')
        .put(path, { role: 'user' })
        .expectError(403, /Another administrator/);
      await app
        .as('admin')
        .delete(path)
        .expectError(403, /Another administrator/);
    }
    expect(await app.count('user', { id, role: 'admin' })).toBe(1);
    await app.as('admin').put(`/api/v1/users/${id}`, { role: 'admin' }).expectData();
  });
});

describe('DELETE /users/:id', () => {
  it('lets an administrator delete a user with its profile', async () => {
    const { id, path, client } = await registerAccount(app, { name: 'Gone' });
    await client.post('/api/v1/profiles', {}).expectData(201);
    expect((await app.as('admin').delete(path)).status).toBe(204);
    expect(await app.count('user', { id })).toBe(0);
    expect(await app.count('profile', { userId: id })).toBe(0);
    expect((await app.as('admin').delete(path)).status).toBe(404);
  });

  it('answers 403 to every user, also for itself, and 401 to nobody', async () => {
    expect((await eve.client.delete(eve.path)).status).toBe(403);
    expect((await eve.client.delete(ada.path)).status).toBe(403);
    expect((await app.delete(ada.path)).status).toBe(401);
    expect(await app.count('user', { id: { in: [ada.id, eve.id] } })).toBe(2);
  });
});
