import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express, Request, RequestHandler } from 'express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { DirectoryLedger } from '../../../src/chassis/uploads/files/directory-ledger.ts';
import { localFiles } from '../../../src/chassis/uploads/files/local-files.ts';
import { receiveFile } from '../../../src/chassis/uploads/files/receive-file.ts';
import type { Reservation } from '../../../src/chassis/uploads/lent-room.ts';
import { receiveUpload, removeUpload, uploadedFile } from '../../../src/chassis/uploads/receive-upload.ts';
import { type UploadQuota, UploadUsage } from '../../../src/chassis/uploads/upload-usage.ts';
import { images } from '../../support/images.ts';
import { bareApp } from '../http/bare-app.ts';

const roomy = { perOwner: 1_000_000, total: 10_000_000, minimumFree: 0 };

let made: string;
let directory: string;
beforeEach(async () => {
  made = await mkdtemp(join(tmpdir(), 'usage-'));
  directory = made;
});
afterEach(() => rm(made, { recursive: true }));

/** An app that stores pictures with this quota. */
function full(quota: Partial<UploadQuota>, owner: (req: Request) => string = () => 'ada'): Express {
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
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(await readdir(directory)).toHaveLength(2);
    await expect.poll(async () => (await post(full({ perOwner: 12_000 }))).status).toBe(200);
  });

  it('stores all that fit of 20 sent at once, of which none takes room for what is refused or smaller than its form', async () => {
    const { body } = await post(full({}));
    const app = full({ perOwner: 6 * body.size + 300 });
    const damaged = () => request(app).post('/').attach('avatar', content.subarray(0, 2_500), 'a.png');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? damaged() : post(app))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(await readdir(directory)).toHaveLength(6);
  });

  it('takes no more room for a file of any type than its form has', async () => {
    const files = localFiles(directory, { ...roomy, total: 8_000 });
    const receive = receiveFile({ field: 'file', maxBytes: 8_000, files });
    const other = await files.reserve('private', 'ada', 4_000);
    const app = bareApp([requestPipeline(), receive, (_req, res) => void res.end()]);
    await request(app).post('/').attach('file', content, 'a.png').expect(200);
    other.release();
  });

  it('gives room that becomes free to who waits for it', async () => {
    const usage = new UploadUsage(new DirectoryLedger(directory), { ...roomy, perOwner: 100 });
    const first = await usage.reserve('ada', 60);
    const second = usage.reserve('ada', 60);
    first.release();
    (await second).release();
    (await usage.reserve('ada', 100)).release();
    await expect(usage.reserve('ada', 101)).rejects.toThrow('100 bytes together');
  });

  it.each(['receiveUpload', 'receiveFile'])(
    'keeps no room of %s for a client that went away while it waited for room',
    async (name) => {
      const came: Request[] = [];
      const quota = { ...roomy, perOwner: 4_000 };
      const receive =
        name === 'receiveUpload'
          ? receiveUpload({ field: 'avatar', maxBytes: 100_000, directory, quota, owner: () => 'ada' })
          : receiveFile({ field: 'avatar', maxBytes: 4_000, files: localFiles(directory, quota) });
      const watch: RequestHandler = (req, _res, next) => {
        came.push(req);
        next();
      };
      const server = bareApp([requestPipeline(), watch, receive, (_req, res) => void res.end()]).listen(0);
      const { port } = server.address() as AddressInfo;
      const open = async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n';
        socket.write(`${head}Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n`);
        const count = came.length + 1;
        await expect.poll(() => came.length).toBe(count);
        return { socket, req: came.at(-1) as Request };
      };
      const first = await open();
      const second = await open();
      for (const { socket, req } of [second, first]) {
        const gone = new Promise((resolve) => req.once('close', resolve));
        socket.destroy();
        await gone;
      }
      const { status } = await request(server).post('/').attach('avatar', content, 'a.png');
      server.close();
      expect(status).toBe(200);
    },
  );

  it('refuses what would fit without files on their way only once they took too long', async () => {
    const usage = new UploadUsage(
      new DirectoryLedger(directory),
      { ...roomy, perOwner: 100, total: 150 },
      { waitMs: 50 },
    );
    await usage.reserve('ada', 60);
    await expect(usage.reserve('ada', 60)).rejects.toThrow('100 bytes together');
    await expect(usage.reserve('grace', 95)).rejects.toThrow('UPLOAD_TOTAL_BYTES');
    (await usage.reserve('grace', 90)).release();
  });

  it('has slow ones give way one after the other while another waits for the room of all, and for nobody who waits for their own', async () => {
    const slow: Reservation[] = [];
    const times: number[] = [];
    const makeRoom = () => {
      times.push(Math.floor((performance.now() - began) / 500));
      slow.pop()?.release();
    };
    const quota = { ...roomy, perOwner: 100, total: 150 };
    const usage = new UploadUsage(new DirectoryLedger(directory), quota, { waitMs: 1250, makeRoom });
    for (const owner of ['ada', 'grace', 'mary']) slow.push(await usage.reserve(owner, 50));
    const began = performance.now();
    const own = usage.reserve('ada', 60).catch((error: Error) => error.message);
    (await usage.reserve('joan', 100)).release();
    expect([times, await own]).toEqual([[1, 2], expect.stringContaining('100 bytes together')]);
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
