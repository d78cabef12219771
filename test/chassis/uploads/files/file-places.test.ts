import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { filesIn, memoryLimit } from '../../../../src/chassis/config/settings/memory-limit.ts';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { FilePlaces } from '../../../../src/chassis/uploads/files/file-places.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';

/** An answer that sends a file to this address, and has a place once `entered` resolves. */
function answerTo(ipAddress: string, files: FilePlaces): { res: ServerResponse; entered: Promise<void> } {
  const socket = new Socket().on('error', () => undefined);
  const res = new ServerResponse(new IncomingMessage(socket));
  res.assignSocket(socket);
  const context = { requestId: 'r', method: 'GET', url: '/uploads/a', startTime: new Date(), ipAddress };
  return { res, entered: runWithRequestContext(context, () => files.enter(res)) };
}

describe('FilePlaces', () => {
  it('lends a place until the answer is closed, to the addresses that wait in turn', async () => {
    const files = new FilePlaces(1, vi.fn());
    const order: string[] = [];
    const first = answerTo('10.0.0.1', files);
    await first.entered;
    const waiting = ['10.0.0.1', '10.0.0.1', '10.0.0.2'].map((address) => {
      const { res, entered } = answerTo(address, files);
      return entered.then(() => {
        order.push(address);
        res.destroy();
      });
    });
    first.res.destroy();
    await Promise.all(waiting);
    expect(order).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.1']);
  });

  it('has the oldest of an address with at least two more give way to what waits', async () => {
    const cut = vi.fn((socket: Socket) => void socket.destroy());
    const files = new FilePlaces(3, cut);
    const slow = [1, 2, 3].map(() => answerTo('10.0.0.1', files));
    await Promise.all(slow.map(({ entered }) => entered));
    const second = answerTo('10.0.0.2', files);
    await second.entered;
    expect(slow.map(({ res }) => res.closed)).toEqual([true, false, false]);
    expect(cut.mock.calls).toEqual([[slow[0]?.res.req.socket, 'displaced']]);
    // It would have as many as the other then.
    const third = answerTo('10.0.0.2', files);
    second.res.destroy();
    await third.entered;
    expect(cut).toHaveBeenCalledOnce();
  });

  it('gives what becomes free to who has the fewest, whoever waited before', async () => {
    const files = new FilePlaces(4, vi.fn());
    const order: string[] = [];
    const slow = ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'].map((address) => answerTo(address, files));
    const waiting = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((address) =>
      answerTo(address, files).entered.then(() => order.push(address)),
    );
    slow[0]?.res.destroy();
    await Promise.race(waiting);
    expect(order).toEqual(['10.0.0.3']);
  });

  it('gives no place to a client that went away while it waited', async () => {
    const files = new FilePlaces(1, vi.fn());
    const first = answerTo('10.0.0.1', files);
    await first.entered;
    const gone = answerTo('10.0.0.2', files);
    const closed = once(gone.res, 'close');
    gone.res.destroy();
    await closed;
    first.res.destroy();
    await gone.entered;
    await answerTo('10.0.0.3', files).entered;
  });

  it('refuses an address for which too many wait', async () => {
    const files = new FilePlaces(0, vi.fn());
    for (let index = 0; index < 64; index += 1) void answerTo(`10.0.${index % 2}.1`, files);
    await expect(answerTo('10.0.0.1', files).entered).rejects.toThrow('Too many files are being sent');
  });

  it('bounds public and private files of a service', async () => {
    const app = await bootTestApp({
      env: { DATABASE_URL: 'none' },
      modulesDirectory: join(import.meta.dirname, '../../../fixtures/modules-files'),
      configure: (config) => ({ ...config, modules: [{ name: 'documents', enabled: true }] }),
    });
    onTestFinished(() => app.service.close().then(() => undefined));
    const upload = (path: string) =>
      app.send((server) => server.post(path).attach('file', Buffer.from('a'), 'a.txt')).expectData(201);
    const paths = [(await upload('/public')).url, `/private/${(await upload('/private')).name}`];
    const slow = Array.from({ length: filesIn(memoryLimit()) }, () => answerTo('10.0.0.1', app.service.filePlaces));
    const cut = () => slow.filter(({ res }) => res.destroyed).length;
    for (const [index, path] of paths.entries()) {
      expect((await app.get(path)).status).toBe(200);
      expect(cut()).toBe(index + 1);
      // What the file had is taken again.
      await answerTo('10.0.0.1', app.service.filePlaces).entered;
    }
  });
});
