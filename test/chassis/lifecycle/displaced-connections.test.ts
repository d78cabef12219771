import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ReadyRefusal } from '../../../src/chassis/admission/ready-refusal.ts';
import { tryAgain } from '../../../src/chassis/errors/try-again.ts';
import { ConnectionMetrics } from '../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { limitedServer } from './limited-server.ts';

const proxy = '127.0.0.9';
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

const overloaded = new ReadyRefusal(tryAgain(), { production: true, keepAliveMs: 65_000 });

/**
 * Answers at once, but `/held` when told, `/stream` with a beginning, `/overloaded` as the gate refuses, and a POST once it has
 * its body, if not to `/early` or, for good, to `/refused`.
 */
function answers() {
  const held: (() => void)[] = [];
  const listener: RequestListener = (req, res) => {
    if (req.url === '/held') held.push(() => void res.end('held'));
    else if (req.url === '/stream') res.write('begun');
    else if (req.url === '/overloaded') overloaded.send(res);
    else if (req.url === '/refused') res.setHeader('Connection', 'close').end('refused');
    else if (req.method === 'GET' || req.url === '/early') res.end('fine');
    else req.resume().on('end', () => res.end('fine'));
  };
  return { held, listener };
}

/** A server with connections of these addresses, and with room for some more. */
async function full(addresses: readonly string[], { sends = '', gets = '', allowHalfOpen = false, room = 0 } = {}) {
  const { held, listener } = answers();
  const metrics = new ConnectionMetrics();
  const limits = { HTTP_MAX_CONNECTIONS: addresses.length + room, HTTP_MAX_CONNECTIONS_PER_ADDRESS: 100 };
  const clientOf = ({ headers }: IncomingMessage) => String(headers['x-forwarded-for']);
  const watch = { metrics, isProxy: (address: string) => address === proxy, clientOf };
  const { server, port, lines } = await limitedServer(listener, limits, watch);
  let begun = 0;
  server.on('request', () => (begun += 1));
  const open = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen }).on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const sockets: Socket[] = [];
  for (const from of addresses) {
    const socket = await open(from);
    if (sends !== '') socket.write(sends);
    if (gets !== '') expect(String((await once(socket, 'data'))[0])).toContain(gets);
    sockets.push(socket.resume());
  }
  const answer = async (from: string) => {
    const socket = await open(from);
    socket.write(last);
    return text(socket).catch(() => '');
  };
  const closed = () => sockets.map((socket) => socket.closed);
  return { open, answer, closed, sockets, held, lines, metrics, begun: () => begun };
}

const few = '127.0.0.2';
const many = '127.0.0.3';
const other = '127.0.0.4';

const displaced = ({ families }: ConnectionMetrics) =>
  families.flatMap(({ samples }) => samples()).find(({ labels }) => labels.includes('displaced'))?.value;

describe('a server with as many connections as it takes', () => {
  it.each([
    ['waits for the next request', { sends: get, gets: 'fine' }],
    ['has sent nothing', {}],
    ['has sent a part of the headers of a request', { sends: 'GET / HTTP/1.1\r\nHost: a\r\nX: ' }],
  ])('closes one that %s, of the address with the most, for one of an address with fewer', async (_what, state) => {
    const { answer, closed, lines, metrics } = await full([few, many, many], state);
    expect(await answer(other)).toContain('fine');
    expect(await answer(other)).toContain('fine');
    await expect.poll(() => closed().filter(Boolean)).toHaveLength(1);
    expect(closed()[0]).toBe(false);
    expect(displaced(metrics)).toBe(1);
    expect(lines).toMatchObject([
      { level: 'warn', cut: 1, reason: 'displaced', ipAddress: many, msg: 'connections cut: too many are open' },
    ]);
  });

  it('refuses one of the address with the most, or of one that has as many', async () => {
    const { answer, closed } = await full([few, many, few, many], { sends: get, gets: 'fine' });
    expect([await answer(many), await answer(few)]).toEqual(['', '']);
    expect(closed()).toEqual([false, false, false, false]);
  });

  it('closes one for an address with fewer while it refuses those of the address with the most', async () => {
    const { answer } = await full([few, many, few, many], { sends: get, gets: 'fine' });
    let floods = true;
    const flood = async () => {
      while (floods) await answer(many);
    };
    const flooding = [flood(), flood(), flood(), flood()];
    const answers = [];
    for (const from of [other, '127.0.0.5', other, '127.0.0.5']) answers.push(await answer(from));
    floods = false;
    await Promise.all(flooding);
    expect(answers).toEqual(Array(4).fill(expect.stringContaining('fine')));
  });

  it('closes one that was slow for a second before all places were taken', async () => {
    const sends = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nslow';
    const { open, answer, begun, metrics } = await full([many, many, many], { sends, room: 1 });
    await expect.poll(begun).toBe(3);
    await wait(1600);
    (await open(other)).write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(begun).toBe(4);
    expect(await answer(few)).toContain('fine');
    expect(displaced(metrics)).toBe(1);
  });

  it('closes one on which a client of a proxy sends slowly', async () => {
    const sends = `POST / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${many}\r\nContent-Length: 9\r\n\r\nslow`;
    const slow = await full([proxy, proxy, proxy], { sends });
    await expect.poll(slow.begun).toBe(3);
    expect(await slow.answer(proxy)).toBe('');
    await wait(1100);
    expect(await slow.answer(proxy)).toContain('fine');
    expect(displaced(slow.metrics)).toBe(1);
  });

  it.each([
    ['/', 'fine'],
    ['/overloaded', '503'],
  ])('closes none that a proxy may use again, after a request of %s without a body', async (path, gets) => {
    const sends = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${many}\r\n\r\n`;
    const { answer, closed } = await full([proxy, proxy, proxy], { sends, gets });
    expect(await answer(proxy)).toBe('');
    expect(closed()).toEqual([false, false, false]);
  });

  it.each([proxy, many])(
    'closes one that a proxy has not used for a second where no other gives way, for one of %s',
    async (from) => {
      const { answer, closed, sockets } = await full([proxy, proxy, proxy], { sends: get, gets: 'fine' });
      expect(await answer(from)).toBe('');
      await wait(1100);
      // One that is used again is not among them.
      for (const socket of sockets.slice(1)) socket.write(get);
      await wait(50);
      expect(await answer(from)).toContain('fine');
      expect(closed()).toEqual([true, false, false]);
    },
  );

  it('closes one on which a client of a proxy sends slowly behind another request in one packet', async () => {
    const head = `Host: a\r\nX-Forwarded-For: ${many}\r\n`;
    const sends = `GET / HTTP/1.1\r\n${head}\r\nPOST / HTTP/1.1\r\n${head}Content-Length: 9\r\n\r\nslow`;
    const { answer, metrics } = await full([proxy, proxy, proxy], { sends, gets: 'fine' });
    expect(await answer(proxy)).toBe('');
    await wait(1100);
    expect(await answer(proxy)).toContain('fine');
    expect(displaced(metrics)).toBe(1);
  });

  it('closes one on which the body of a client of a proxy still comes after its answer, until all of it has come', async () => {
    const sends = `POST /early HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${many}\r\nContent-Length: 9\r\n\r\nslow`;
    const slow = await full([proxy, proxy, proxy], { sends, gets: 'fine' });
    expect(await slow.answer(proxy)).toContain('fine');
    expect(displaced(slow.metrics)).toBe(1);
    const whole = await full([proxy, proxy, proxy], { sends, gets: 'fine' });
    for (const socket of whole.sockets) socket.write('whole');
    await wait(50);
    expect(await whole.answer(proxy)).toBe('');
    expect(whole.closed()).toEqual([false, false, false]);
  });

  it.each([proxy, many])('closes one that was answered for the last time, whoever asks: %s', async (from) => {
    const sends = 'POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na';
    const { answer, begun, metrics } = await full([from, from, from], { sends, allowHalfOpen: true });
    await expect.poll(begun).toBe(3);
    expect(await answer(from)).toContain('fine');
    expect(displaced(metrics)).toBe(1);
  });

  it('closes none whose request is being worked on', async () => {
    const held = 'GET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const server = await full([many, many, many], { sends: held });
    await expect.poll(server.begun).toBe(3);
    for (let tries = 0; tries < 3; tries += 1) {
      expect(await server.answer(few)).toBe('');
      await wait(600);
    }
    const all = server.sockets.map((socket) => text(socket));
    for (const end of server.held) end();
    for (const got of await Promise.all(all)) expect(got).toContain('held');
  });

  it.each([
    ['body comes slowly', { sends: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab' }],
    ['answer never ends', { sends: 'GET /stream HTTP/1.1\r\nHost: a\r\n\r\n', gets: 'begun' }],
  ])(
    'closes one whose %s after a second of it, and keeps as many of its address as the other has',
    async (_what, state) => {
      const { answer, closed, begun, sockets } = await full([many, many, many], state);
      await expect.poll(begun).toBe(3);
      expect(await answer(few)).toBe('');
      // More of the body, and nothing at all in front of a request.
      for (const socket of sockets) socket.write('\r\n');
      await expect.poll(() => answer(few), { timeout: 5000, interval: 200 }).toContain('fine');
      expect(closed().filter(Boolean)).toHaveLength(1);
    },
  );

  it('closes none with a request under way for an address that would then have as many', async () => {
    const { answer, begun, closed } = await full([many, few], {
      sends: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab',
    });
    await expect.poll(begun).toBe(2);
    for (let tries = 0; tries < 3; tries += 1) {
      expect(await answer(other)).toBe('');
      await wait(600);
    }
    expect(closed()).toEqual([false, false]);
  });

  it('closes the one that was idle for long where all addresses have as many', async () => {
    const addresses = Array.from({ length: 8 }, (_, index) => `127.0.1.${index + 1}`);
    const { answer, closed, sockets } = await full(addresses, { sends: get, gets: 'fine' });
    for (let count = 0; count < 20; count += 1) {
      expect(await answer(`127.0.2.${count + 1}`)).toContain('fine');
      // Fills the place again, beside one that is in use.
      const used = sockets[7] as Socket;
      used.write(get);
      await once(used, 'data');
      sockets.push(await openIdle(sockets[7] as Socket, `127.0.3.${count + 1}`));
    }
    expect(closed()[7]).toBe(false);
    expect(closed().slice(0, 7)).toEqual([true, true, true, true, true, true, true]);
  });

  it('closes none of a proxy, and one for it', async () => {
    const { answer, closed } = await full([proxy, proxy, few], { sends: get, gets: 'fine' });
    expect(await answer(proxy)).toContain('fine');
    await expect.poll(closed).toEqual([false, false, true]);
  });
});

/** One more of the port that a connection leads to, which has got an answer. */
async function openIdle({ remotePort }: Socket, localAddress: string): Promise<Socket> {
  const socket = connect({ port: remotePort as number, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(get);
  await once(socket, 'data');
  return socket.resume();
}
