import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { images } from '../../support/images.ts';
import { registerAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({
  env: { UPLOAD_MAX_BYTES: '5000', UPLOAD_USER_BYTES: '6000', UPLOADS_PER_MINUTE: '6' },
});
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A registered user and the path of its avatar. */
async function newUser() {
  const { id, path, client } = await registerAccount(app);
  return { id, path: `${path}/avatar`, client };
}

const files = () => readdirSync(app.uploads).sort();
const avatarOf = async (id: string) => (await app.orm.user.findUniqueOrThrow({ where: { id } })).avatarUrl;

/** Expects that `request` leaves the files and the user as they are. */
async function expectNothingLeft(id: string, request: () => PromiseLike<unknown>) {
  const before = { files: files(), avatar: await avatarOf(id) };
  await request();
  // The failure is answered first and undone right after.
  await expect.poll(files).toEqual(before.files);
  expect(await avatarOf(id)).toBe(before.avatar);
}

describe('POST /users/:id/avatar', () => {
  it('stores the picture under a name of the service, serves it, and answers 200 with the user', async () => {
    const { path, client, id } = await newUser();
    const user = await client.upload(path, 'avatar', png, '../../evil name.html').expectData();
    expect(user).toMatchObject({ id, email: expect.any(String) });
    expect(user.avatarUrl).toMatch(/^\/uploads\/[\w-]+\.png$/);
    const response = await app.get(user.avatarUrl);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('image/png');
    expect(response.body).toEqual(png);
  });

  it('removes the picture that it replaces', async () => {
    const { path, client } = await newUser();
    const first = await client.upload(path, 'avatar', png, 'a.png').expectData();
    const second = await client.upload(path, 'avatar', png, 'b.png').expectData();
    expect((await app.get(first.avatarUrl)).status).toBe(404);
    expect((await app.get(second.avatarUrl)).status).toBe(200);
  });

  it('leaves one file when several are set at once', async () => {
    const { path, client, id } = await newUser();
    const before = files().length;
    await Promise.all([1, 2, 3].map(() => client.upload(path, 'avatar', png, 'a.png').expectData()));
    expect(files()).toHaveLength(before + 1);
    expect((await app.get((await avatarOf(id)) as string)).status).toBe(200);
  });

  it('goes with its user', async () => {
    const { path, client, id } = await newUser();
    const { avatarUrl } = await client.upload(path, 'avatar', png, 'a.png').expectData();
    expect((await app.as('admin').delete(`/api/v1/users/${id}`)).status).toBe(204);
    expect((await app.get(avatarUrl)).status).toBe(404);
  });

  it('lets an administrator set the picture of any user', async () => {
    const { path, id } = await newUser();
    const { avatarUrl } = await app.as('admin').upload(path, 'avatar', png, 'a.png').expectData();
    expect(await avatarOf(id)).toBe(avatarUrl);
  });

  it('answers 401 to nobody and 403 to another user, and leaves nothing behind', async () => {
    const [{ id, path }, { client: mallory }] = [await newUser(), await newUser()];
    await expectNothingLeft(id, async () => {
      expect((await app.upload(path, 'avatar', png, 'a.png')).status).toBe(401);
      expect((await mallory.upload(path, 'avatar', png, 'a.png')).status).toBe(403);
    });
  });

  it('answers 404 for a user that is not there, and leaves nothing behind', async () => {
    const before = files();
    const path = '/api/v1/users/01900000-0000-7000-8000-000000000000/avatar';
    expect((await app.as('admin').upload(path, 'avatar', png, 'a.png')).status).toBe(404);
    await expect.poll(files).toEqual(before);
  });

  it('answers 400 without a file (spec.md: Error response body, rule 4)', async () => {
    const { id, path, client } = await newUser();
    await expectNothingLeft(id, async () => {
      expect((await client.upload(path, 'picture', png, 'a.png')).status).toBe(400);
      expect((await client.send((server) => server.post(path).field('avatar', 'a text'))).status).toBe(400);
      expect((await client.post(path, { avatar: 'a text' })).status).toBeOneOf([400, 415]);
    });
  });

  it.each([
    ['HTML named .png', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['SVG named .png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
    ['an empty file', Buffer.alloc(0)],
    ['half a signature', png.subarray(0, 4)],
  ])('refuses %s by its content and leaves nothing behind', async (_case, content) => {
    const { id, path, client } = await newUser();
    await expectNothingLeft(id, async () => {
      expect((await client.upload(path, 'avatar', content, 'a.png')).status).toBe(415);
    });
  });

  it('answers 413 to a user whose files take more than UPLOAD_USER_BYTES would allow', async () => {
    const { id, path, client } = await newUser();
    await client.upload(path, 'avatar', images.png(Buffer.alloc(4000)), 'a.png').expectData();
    await expectNothingLeft(id, async () => {
      expect((await client.upload(path, 'avatar', images.png(Buffer.alloc(4000)), 'a.png')).status).toBe(413);
    });
  });

  it('counts what an administrator stores for a user to this user, however the path writes the identifier', async () => {
    const { id, path, client } = await newUser();
    await client.upload(path, 'avatar', images.png(Buffer.alloc(4000)), 'a.png').expectData();
    await expectNothingLeft(id, async () => {
      const admin = app.as('admin');
      const capitals = path.replace(id, id.toUpperCase());
      expect((await admin.upload(capitals, 'avatar', images.png(Buffer.alloc(4000)), 'a.png')).status).toBe(413);
    });
  });

  it('answers 429 to more than UPLOADS_PER_MINUTE of one user, and to nobody else', async () => {
    const [{ path, client }, other] = [await newUser(), await newUser()];
    for (let count = 0; count < 6; count += 1) await client.upload(path, 'avatar', png, 'a.png').expectData();
    expect((await client.upload(path, 'avatar', png, 'a.png')).status).toBe(429);
    await other.client.upload(other.path, 'avatar', png, 'a.png').expectData();
  });

  it('answers 413 to a file beyond UPLOAD_MAX_BYTES and leaves nothing behind', async () => {
    const { id, path, client } = await newUser();
    await expectNothingLeft(id, async () => {
      const large = Buffer.concat([png, Buffer.alloc(5000)]);
      expect((await client.upload(path, 'avatar', large, 'a.png')).status).toBe(413);
    });
  });

  it('answers 400 Failed to upload avatar when the file cannot be stored (spec.md: Error response body, rule 6)', async () => {
    const { id, path, client } = await newUser();
    await client.upload(path, 'avatar', png, 'a.png').expectData();
    await client.get(`/api/v1/users/${id}`).expectData();
    renameSync(app.uploads, `${app.uploads}-away`);
    writeFileSync(app.uploads, 'a file in the place of the directory');
    try {
      const response = await client.upload(path, 'avatar', png, 'a.png').expectError(400, 'Failed to upload avatar');
      expect(response.body.details).toHaveProperty('cause');
      expect(JSON.stringify(response.body)).not.toContain(app.uploads);
      expect(JSON.stringify(response.body)).not.toMatch(/\/tmp|\/work|node_modules/);
    } finally {
      renameSync(app.uploads, `${app.uploads}-file`);
      renameSync(`${app.uploads}-away`, app.uploads);
    }
    expect((await app.get((await avatarOf(id)) as string)).status).toBe(200);
  });
});
