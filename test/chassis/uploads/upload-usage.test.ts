import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { receiveUpload, removeUpload, uploadedFile } from '../../../src/chassis/uploads/receive-upload.ts';
import type { UploadQuota } from '../../../src/chassis/uploads/upload-usage.ts';
import { images } from '../../support/images.ts';
import { bareApp } from '../http/bare-app.ts';

const roomy = { perOwner: 1_000_000, total: 10_000_000, minimumFree: 0 };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'usage-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** An app that stores pictures with this quota. */
function full(quota: Partial<UploadQuota>, owner = () => 'ada'): Express {
  const upload = receiveUpload({
    field: 'avatar',
    maxBytes: 100_000,
    directory,
    quota: { ...roomy, ...quota },
    owner,
  });
  return bareApp([upload, (req, res) => void res.json(uploadedFile(req))]);
}

describe('the quota of uploads', () => {
  const content = images.png(Buffer.alloc(3_000));
  const post = (app: Express) => request(app).post('/').attach('avatar', content, 'a.png');
  it('answers 413 to an owner who has no room left, at once and with nothing stored, until a file is removed', async () => {
    const app = full({ perOwner: 8_000 });
    const { body } = await post(app);
    await post(app).expect(200);
    const refused = await post(app);
    expect([refused.status, refused.body.message]).toEqual([413, expect.stringContaining('8000 bytes together')]);
    expect(await readdir(directory)).toHaveLength(2);
    await removeUpload(directory, body.name);
    await expect.poll(async () => (await post(app)).status, { interval: 100 }).toBe(200);
  });

  it('counts files on their way, so that many at once store no more', async () => {
    const app = full({ perOwner: 8_000 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(app)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2);
    expect((await readdir(directory)).length).toBeLessThanOrEqual(2);
    await expect.poll(async () => (await post(full({ perOwner: 12_000 }))).status).toBe(200);
  });

  it('counts what another replica has stored on the same volume', async () => {
    const [one, two] = [full({ perOwner: 8_000 }), full({ perOwner: 8_000 })];
    await post(one).expect(200);
    await post(one).expect(200);
    await post(two).expect(413);
  });

  it('lets others store, up to the quota of all: then 507', async () => {
    let owner = 'ada';
    const app = full({ perOwner: 4_000, total: 7_000 }, () => owner);
    await post(app).expect(200);
    await post(app).expect(413);
    owner = 'grace';
    await post(app).expect(200);
    owner = 'edsger';
    const { status, body } = await post(app);
    expect([status, body.message]).toEqual([507, expect.stringContaining('UPLOAD_TOTAL_BYTES')]);
  });

  it('answers 507 while the disk has less left than it must', async () => {
    await post(full({ minimumFree: Number.MAX_SAFE_INTEGER })).expect(507);
    expect(await readdir(directory)).toEqual([]);
  });
});
