import { describe, expect, it } from 'vitest';
import { registerAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const profiles = '/api/v1/profiles';
const stranger = '01900000-0000-7000-8000-000000000000';

/** A registered user with a profile. */
async function newUserWithProfile() {
  const user = await registerAccount(app);
  const profile = await user.client.post(profiles, { bio: 'before' }).expectData(201);
  return { ...user, profile, path: `${profiles}/${profile.id}` };
}

describe('GET /profiles', () => {
  it('is open to every user: list, pages and single profiles', async () => {
    const { profile, path, id } = await newUserWithProfile();
    const client = app.as('user');
    expect(await client.get(path).expectData()).toEqual(profile);
    expect(await client.get(profiles, { where: { userId: id } }).expectData()).toEqual([profile]);
    expect(await client.get(`${profiles}/paginated`, { where: { userId: id } }).expectData()).toEqual([profile]);
  });

  it('answers 401 to nobody: bios and locations are not for strangers to collect', async () => {
    const { path } = await newUserWithProfile();
    for (const closed of [path, profiles, `${profiles}/paginated`]) expect((await app.get(closed)).status).toBe(401);
  });

  it('includes the public fields of the user, and no others', async () => {
    const { path } = await newUserWithProfile();
    const { user } = await app
      .as('admin')
      .get(path, { include: { user: true } })
      .expectData();
    expect(Object.keys(user).sort()).toEqual(['avatarUrl', 'createdAt', 'id', 'name']);
  });

  it('answers 404 for a profile that is not there and 400 for a filter that is not open', async () => {
    const client = app.as('user');
    expect((await client.get(`${profiles}/${stranger}`)).status).toBe(404);
    expect((await client.get(profiles, { where: { user: { email: 'a' } } })).status).toBe(400);
    expect((await client.get(`${profiles}/paginated`, { orderBy: { 'user.email': 'asc' } })).status).toBe(400);
  });
});

describe('POST /profiles', () => {
  it('stores the profile of the caller that the token names', async () => {
    const { id, client } = await registerAccount(app);
    const response = await client.post(profiles, { bio: 'Mathematician', location: 'London' });
    expect(response.status).toBe(201);
    expect(response.headers['location']).toBe(`${profiles}/${response.body.data.id}`);
    expect(response.body.data).toMatchObject({ userId: id, bio: 'Mathematician', location: 'London' });
  });

  it('takes the identifier of the caller in capitals as well', async () => {
    const { id, client } = await registerAccount(app);
    expect(await client.post(profiles, { userId: id.toUpperCase() }).expectData(201)).toMatchObject({ userId: id });
  });

  it('answers 403 to a body that names another user, and stores nothing', async () => {
    const [mallory, victim] = [await registerAccount(app), await registerAccount(app)];
    expect((await mallory.client.post(profiles, { userId: victim.id })).status).toBe(403);
    expect(await app.count('profile', { userId: { in: [mallory.id, victim.id] } })).toBe(0);
  });

  it('lets an administrator store the profile of any user, who has to exist', async () => {
    const { id } = await registerAccount(app);
    expect(await app.as('admin').post(profiles, { userId: id }).expectData(201)).toMatchObject({ userId: id });
    expect((await app.as('admin').post(profiles, { userId: stranger })).status).toBe(409);
  });

  it('answers 409 to a second profile of one user, also at once', async () => {
    const { id, client } = await registerAccount(app);
    const answers = await Promise.all([1, 2].map(() => client.post(profiles, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await app.count('profile', { userId: id })).toBe(1);
  });

  it('answers 401 to nobody and 400 to a body that does not hold', async () => {
    expect((await app.post(profiles, {})).status).toBe(401);
    const { client } = await registerAccount(app);
    expect((await client.post(profiles, { bio: 'x'.repeat(2001) })).status).toBe(400);
    expect((await client.post(profiles, { id: stranger })).status).toBe(400);
    expect((await client.post(profiles, { userId: 'nobody' })).status).toBe(400);
  });
});

describe('PUT and DELETE /profiles/:id', () => {
  it('let a user change and delete its own profile', async () => {
    const { path, client, id } = await newUserWithProfile();
    expect(await client.put(path, { bio: 'after' }).expectData()).toMatchObject({ bio: 'after', userId: id });
    expect(await client.put(path, { bio: null }).expectData()).toMatchObject({ bio: null });
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
  });

  it('answer 403 to another user and 401 to nobody, and change nothing', async () => {
    const [{ client }, { path, profile }] = [await newUserWithProfile(), await newUserWithProfile()];
    expect((await client.put(path, { bio: 'defaced' })).status).toBe(403);
    expect((await client.delete(path)).status).toBe(403);
    expect((await app.put(path, { bio: 'defaced' })).status).toBe(401);
    expect((await app.delete(path)).status).toBe(401);
    expect(await client.get(path).expectData()).toEqual(profile);
  });

  it('let an administrator change and delete any profile, but not give it to another user', async () => {
    const { path, id } = await newUserWithProfile();
    const other = await registerAccount(app);
    expect((await app.as('admin').put(path, { userId: other.id })).status).toBe(400);
    expect(await app.as('admin').put(path, { location: 'Paris' }).expectData()).toMatchObject({ userId: id });
    expect((await app.as('admin').delete(path)).status).toBe(204);
  });

  it('answer 404 for a profile that is not there', async () => {
    expect((await app.as('user').put(`${profiles}/${stranger}`, {})).status).toBe(404);
    expect((await app.as('user').delete(`${profiles}/${stranger}`)).status).toBe(404);
  });
});
