import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const account = { email: 'ada@example.com', password: 'correct horse battery' };
const body = { ...account, name: 'Ada' };

describe('POST /auth/register', () => {
  it('answers 201 with the new user, whose role is user and whose password is stored as an argon2id hash', async () => {
    const response = await app.post('/auth/register', { ...body, email: ' Ada@Example.com ' });
    expect(response.status).toBe(201);
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(response.body).toEqual({ success: true, data: { id, email: body.email, name: 'Ada', role: 'user' } });
    const stored = await app.orm.user.findUniqueOrThrow({ where: { email: body.email } });
    expect(stored.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await app.as(account).get(`/api/v1/users/${stored.id}`).expectData();
  });

  it('answers 409 for an address that is taken, in any spelling, and stores nothing', async () => {
    await app.post('/auth/register', { ...body, email: 'taken@example.com' }).expectData(201);
    const before = await app.count('user');
    const again = { ...body, email: 'TAKEN@example.com', name: 'Eve' };
    const response = await app
      .post('/auth/register', again)
      .expectError(409, 'This e-mail address cannot be registered');
    expect(response.body).not.toHaveProperty('details');
    expect(await app.count('user')).toBe(before);
  });

  it('answers exactly one of two registrations of the same address at once with 201', async () => {
    const twice = [1, 2].map(() => app.post('/auth/register', { ...body, email: 'twice@example.com' }));
    const statuses = (await Promise.all(twice)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409]);
    expect(await app.count('user', { email: 'twice@example.com' })).toBe(1);
  });

  it.each(['role', 'id', 'passwordHash', 'avatarUrl', 'createdAt', '__proto__', 'isAdmin'])(
    'answers 400 when the body brings a %s, and stores nothing',
    async (field) => {
      const before = await app.count('user');
      const text = `{"email":"mass@example.com","password":"correct horse battery","name":"Eve","${field}":"admin"}`;
      const response = await app.send((server) => server.post('/auth/register').type('json').send(text));
      expect(response.status).toBe(400);
      expect(await app.count('user')).toBe(before);
    },
  );

  it('answers 400 that names each invalid field and repeats no value', async () => {
    const response = await app
      .post('/auth/register', { email: 'no address', password: 'too short', name: '' })
      .expectError(400, 'Validation Failed', {
        errors: {
          email: ['Expected an e-mail address'],
          password: ['Expected at least 12 characters'],
          name: ['Expected at least 1 character'],
        },
      });
    expect(JSON.stringify(response.body)).not.toMatch(/no address|too short/);
  });

  it.each(['password2024!', 'qwertyqwerty', 'ada@example.com', 'Ada Lovelace1815'])(
    'answers 400 to the password %s, which is easy to guess, and stores nothing',
    async (password) => {
      const before = await app.count('user');
      await app
        .post('/auth/register', { ...body, name: 'Ada Lovelace', password })
        .expectError(400, 'Validation Failed', {
          errors: { password: ['Expected a password that is not easy to guess'] },
        });
      expect(await app.count('user')).toBe(before);
    },
  );

  it('answers 400 without a body', async () => {
    expect((await app.post('/auth/register')).status).toBe(400);
  });
});
