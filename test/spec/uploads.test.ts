import { renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { images } from '../support/images.ts';

const app = await bootTestApp();
const { id } = await app.orm.user.findFirstOrThrow();
const path = `/api/v1/users/${id}/avatar`;
const png = images.png(Buffer.from('a picture'));

describe('spec.md: Error response body', () => {
  it('rule 4: a missing required upload file gives 400', async () => {
    expect((await app.as('admin').upload(path, 'picture', png, 'a.png')).status).toBe(400);
    expect((await app.as('admin').send((server) => server.post(path).field('avatar', 'a text'))).status).toBe(400);
  });

  it('rule 6: a failure to store an upload gives 400 with the cause, and no path of the machine', async () => {
    renameSync(app.uploads, `${app.uploads}-away`);
    writeFileSync(app.uploads, 'a file in the place of the directory');
    try {
      const { body } = await app
        .as('admin')
        .upload(path, 'avatar', png, 'a.png')
        .expectError(400, 'Failed to upload avatar');
      expect(body.details).toHaveProperty('cause');
      expect(JSON.stringify(body)).not.toContain(app.uploads);
    } finally {
      renameSync(app.uploads, `${app.uploads}-file`);
      renameSync(`${app.uploads}-away`, app.uploads);
    }
  });
});
