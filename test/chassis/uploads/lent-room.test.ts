import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { RequestAbandonedException } from '../../../src/chassis/errors/exceptions.ts';
import { ComingForms } from '../../../src/chassis/uploads/coming-forms.ts';
import { DirectoryLedger, freeBytes } from '../../../src/chassis/uploads/files/directory-ledger.ts';
import { localFiles } from '../../../src/chassis/uploads/files/local-files.ts';
import type { AskedRoom, Reservation } from '../../../src/chassis/uploads/lent-room.ts';
import { UploadUsage } from '../../../src/chassis/uploads/upload-usage.ts';

const roomy = { perOwner: 1_000_000, total: 10_000_000, minimumFree: 0 };
const directory = await mkdtemp(join(tmpdir(), 'room-'));
afterAll(() => rm(directory, { recursive: true }));

/** Keeps room for a file of this address, whose accounts are all others. */
function reserveAt(ipAddress: string, usage: UploadUsage, bytes: number): Promise<Reservation> {
  const context = { requestId: 'r', method: 'POST', url: '/', startTime: new Date(), ipAddress };
  return runWithRequestContext(context, () => usage.reserve(randomUUID(), bytes));
}

describe('room that is lent to files on their way', () => {
  it('gives what becomes free to the addresses that have the least of it', async () => {
    // A real disk may answer the second that asks before the first, and which of equals came first decides.
    const usage = new UploadUsage(
      onDisk(() => 1_000_000),
      { ...roomy, total: 100 },
    );
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
    const usage = new UploadUsage(
      onDisk(() => free),
      roomy,
      { waitMs: 500 },
    );
    const first = await usage.reserve('ada', 80);
    free = 20;
    await expect(usage.reserve('grace', 101)).rejects.toThrow('UPLOAD_MIN_FREE_BYTES');
    const second = usage.reserve('grace', 60);
    await wait(50);
    free = 100;
    first.release();
    (await second).release();
  });

  it('waits for the removal of what a file that gave way has written', async () => {
    let free = 100;
    const usage = new UploadUsage(
      onDisk(() => free),
      roomy,
      { waitMs: 2000 },
    );
    const first = await usage.reserve('ada', 80);
    free = 20;
    const second = usage.reserve('grace', 60);
    await wait(50);
    first.release();
    await wait(50);
    free = 100;
    (await second).release();
  });
});

/** A place without files, on a disk with so many bytes free. */
function onDisk(free: () => number) {
  return { refresh: async () => undefined, stored: () => 0, add: () => undefined, free: async () => free() };
}
