import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Express, Request, RequestHandler } from 'express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { RequestAbandonedException } from '../../../src/chassis/errors/exceptions.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { ComingForms } from '../../../src/chassis/uploads/coming-forms.ts';
import { DirectoryLedger, freeBytes } from '../../../src/chassis/uploads/files/directory-ledger.ts';
import { localFiles } from '../../../src/chassis/uploads/files/local-files.ts';
import { receiveFile } from '../../../src/chassis/uploads/files/receive-file.ts';
import type { AskedRoom } from '../../../src/chassis/uploads/lent-room.ts';
import { receiveUpload, removeUpload, uploadedFile } from '../../../src/chassis/uploads/receive-upload.ts';
import { type Reservation, type UploadQuota, UploadUsage } from '../../../src/chassis/uploads/upload-usage.ts';
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

/** Keeps room for a file of this address, whose accounts are all others. */
function reserveAt(ipAddress: string, usage: UploadUsage, bytes: number): Promise<Reservation> {
  const context = { requestId: 'r', method: 'POST', url: '/', startTime: new Date(), ipAddress };
  return runWithRequestContext(context, () => usage.reserve(randomUUID(), bytes));
}

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

  it('gives what becomes free to the addresses that have the least of it', async () => {
    const usage = new UploadUsage(new DirectoryLedger(directory), { ...roomy, total: 100 });
    const lent = [await reserveAt('192.0.2.1', usage, 40), await reserveAt('192.0.2.1', usage, 60)];
    const order: string[] = [];
    const waiting = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'].map(async (address) => {
      const reservation = await reserveAt(address, usage, 30);
      order.push(address);
      reservation.release();
    });
    await wait(50);
    lent[0]?.release();
    await Promise.all(waiting);
    expect(order.slice(0, 2)).toEqual(['192.0.2.2', '192.0.2.3']);
  });

  it('has those of an address with more give way to the first of another, whatever its account and its pace', async () => {
    const forms = new ComingForms(40);
    const makeRoom = (asked: AskedRoom) => forms.makeRoom(asked);
    const usage = new UploadUsage(new DirectoryLedger(directory), { ...roomy, total: 240 }, { waitMs: 1250, makeRoom });
    const gaveWay: string[] = [];
    /** Sends a form as fast as nobody does. */
    const begin = async (client: string) => {
      const room = await reserveAt(client, usage, 10);
      const giveWay = () => {
        gaveWay.push(client);
        room.release();
      };
      forms.enter({ client, room, received: () => 100_000_000, giveWay });
    };
    const addresses = Array.from({ length: 8 }, (_, index) => `198.51.100.${index}`);
    for (const address of addresses) for (let index = 0; index < 3; index += 1) await begin(address);
    const more = addresses.map((address) => begin(address).catch(({ message }: Error) => message));
    await Promise.all(Array.from({ length: 4 }, (_, index) => begin(`192.0.2.${index}`)));
    expect(await Promise.all(more)).toEqual(Array(8).fill(expect.stringContaining('UPLOAD_TOTAL_BYTES')));
    expect([gaveWay.length, new Set(gaveWay).size]).toEqual([4, 4]);
  });

  it('has nobody give way to a client that has gone', async () => {
    let asked = 0;
    const makeRoom = () => {
      asked += 1;
    };
    const usage = new UploadUsage(new DirectoryLedger(directory), { ...roomy, total: 100 }, { waitMs: 1250, makeRoom });
    await usage.reserve('ada', 100);
    const context = { requestId: 'r', method: 'POST', url: '/', startTime: new Date(), abortReason: 'gone' };
    const refused = await runWithRequestContext(context, () => usage.reserve('grace', 10)).catch((error) => error);
    expect([asked, refused]).toEqual([0, expect.any(RequestAbandonedException)]);
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

  it('counts what public and private files on their way may take of the disk together', async () => {
    const files = localFiles(directory, { perOwner: Infinity, total: Infinity, minimumFree: 0 });
    const most = 0.6 * (await freeBytes(directory));
    const order: string[] = [];
    const first = await files.reserve('public', 'ada', most);
    const second = files.reserve('private', 'grace', most).then(({ release }) => {
      order.push('lent');
      release();
    });
    await wait(50);
    order.push('given back');
    first.release();
    await second;
    expect(order).toEqual(['given back', 'lent']);
  });

  it('waits for what files on their way have written to the disk already, and not for more', async () => {
    let free = 100;
    const place = { refresh: async () => undefined, stored: () => 0, add: () => undefined, free: async () => free };
    const usage = new UploadUsage(place, roomy, { waitMs: 500 });
    const first = await usage.reserve('ada', 80);
    free = 20;
    await expect(usage.reserve('grace', 101)).rejects.toThrow('UPLOAD_MIN_FREE_BYTES');
    const second = usage.reserve('grace', 60);
    await wait(50);
    free = 100;
    first.release();
    (await second).release();
  });

  it('answers 507 while the disk has less left than it must', async () => {
    await post(full({ minimumFree: Number.MAX_SAFE_INTEGER })).expect(507);
    expect(await readdir(directory)).toEqual([]);
  });
});
