import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MemoryRelief } from '../../../src/chassis/lifecycle/memory-guard.ts';
import { limitedServer } from './limited-server.ts';

const patienceMs = 1500;
const large = Buffer.alloc(12_000_000, 'a');

const requests = {
  'reads no answer': 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n',
  'sends no more of its body': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx',
  'sends no more of its headers': 'GET / HTTP/1.1\r\nHost: a\r\nX: x',
  'asks nothing': '',
  'waits for its answer': 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n',
};

async function serve(isProxy = false) {
  const reliefs: MemoryRelief[] = [];
  const memory = { add: (relief: MemoryRelief) => void reliefs.push(relief) };
  const { port } = await limitedServer(
    (req, res) => {
      if (req.url === '/large') res.end(large);
    },
    {},
    { isProxy: () => isProxy, clientOf: ({ headers }) => String(headers['x-forwarded-for']), memory },
  );
  const [relief] = reliefs;
  if (!relief) throw new Error('Expected connections to give memory back, found none that do');
  return { port, relief };
}

async function clients(port: number, text: string, count: number, localAddress = '127.0.0.1'): Promise<Socket[]> {
  const open = () => connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  const sockets = Array.from({ length: count }, open);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.pause().write(text);
  return sockets;
}

/** How many are cut after all were watched for as long as the service is patient. */
async function cutOf(relief: MemoryRelief): Promise<number> {
  await wait(500);
  relief.watch();
  const early = relief.relieve();
  await wait(patienceMs);
  return early === 0 ? relief.relieve() : Number.NaN;
}

describe('while memory is short, of connections', () => {
  it.each([
    ['reads no answer', 2],
    ['sends no more of its body', 2],
    ['sends no more of its headers', 2],
    ['asks nothing', 2],
    ['waits for its answer', 0],
  ] as const)(
    'whose client %s for a second half are cut or, where it waits itself, none: %d of 4',
    async (what, cut) => {
      const { port, relief } = await serve();
      await clients(port, requests[what], 4);
      expect(await cutOf(relief)).toBe(cut);
    },
  );

  it('those of a proxy stay where nothing is asked, and are cut like others where it reads no answer', async () => {
    const { port, relief } = await serve(true);
    await clients(port, requests['asks nothing'], 4);
    await clients(port, requests['reads no answer'], 4);
    expect(await cutOf(relief)).toBe(2);
  });

  it.each(['reads no answer', 'sends no more of its body', 'sends no more of its headers', 'asks nothing'] as const)(
    'whose client %s those of the address with the most are cut, also where another waits for longer',
    async (what) => {
      const { port, relief } = await serve();
      const [patient] = (await clients(port, requests[what], 1, '127.0.0.2')) as [Socket];
      await clients(port, requests[what], 3);
      expect(await cutOf(relief)).toBe(2);
      // One that does not read hears of no reset.
      patient.resume();
      await wait(100);
      expect(patient.destroyed).toBe(false);
    },
  );

  it.each(['reads no answer', 'sends no more of its body'] as const)(
    'whose client %s those of the client of a proxy with the most are cut, also where another waits for longer',
    async (what) => {
      const { port, relief } = await serve(true);
      const through = (client: string) => requests[what].replace('Host: a', `Host: a\r\nX-Forwarded-For: ${client}`);
      const [patient] = (await clients(port, through('203.0.113.1'), 1)) as [Socket];
      await wait(200);
      relief.watch();
      await clients(port, through('203.0.113.2'), 3);
      expect(await cutOf(relief)).toBe(2);
      patient.resume();
      await wait(100);
      expect(patient.destroyed).toBe(false);
    },
  );

  it.each([
    ['reads no answer', 5],
    ['sends no more of its body', 5],
    ['asks nothing', 0],
  ] as const)(
    'whose client %s those of an address with more than 32 are cut at once, as it may renew them: %d of 41',
    async (what, cut) => {
      const { port, relief } = await serve();
      await clients(port, requests[what], 41);
      await wait(500);
      relief.watch();
      expect(relief.relieve()).toBe(cut);
    },
  );
});
