import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Metrics } from '../../../src/chassis/telemetry/metrics/metrics.ts';
import { memoryLog } from '../http/bare-app.ts';
import { limitedServer } from './limited-server.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

async function serve(
  total: number,
  perAddress: number,
  isProxy: (address: string) => boolean = () => false,
  isBarred: (client: string) => boolean = () => false,
) {
  const metrics = new Metrics({
    seriesLimit: 100,
    build: { version: '1', revision: 'r' },
    pool: () => undefined,
    log: memoryLog().logger,
  });
  const limits = { HTTP_MAX_CONNECTIONS: total, HTTP_MAX_CONNECTIONS_PER_ADDRESS: perAddress };
  const watch = { metrics: metrics.connections, isProxy, isBarred };
  return { ...(await limitedServer((_req, res) => void res.end('fine'), limits, watch)), metrics };
}

async function open(port: number, count: number, localAddress = '127.0.0.1'): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

async function answer(port: number, localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => socket.destroy());
  socket.write(get);
  return text(socket).catch(() => '');
}

describe('limitConnections', () => {
  it('closes a connection beyond the total, says so in one line and in a metric, and serves those that are open', async () => {
    const { port, lines, metrics } = await serve(3, 100);
    const [first] = await open(port, 3);
    expect([await answer(port), await answer(port)]).toEqual(['', '']);
    expect(lines).toMatchObject([{ level: 'warn', limit: 'total', msg: 'connections refused: too many are open' }]);
    const { text: told } = await metrics.text();
    expect(told).toContain('http_connections_refused_total{limit="total"} 2');
    expect(told).toContain('http_connections_open 3');
    first?.write(get);
    expect(await text(first as Socket)).toContain('fine');
    await expect.poll(() => answer(port)).toContain('fine');
  });

  it('closes a connection beyond those of one address, and serves other addresses', async () => {
    const { port, metrics } = await serve(100, 2);
    const [first] = await open(port, 2);
    expect(await answer(port)).toBe('');
    expect(await answer(port, '127.0.0.2')).toContain('fine');
    expect((await metrics.text()).text).toContain('http_connections_refused_total{limit="address"} 1');
    first?.destroy();
    await expect.poll(() => answer(port)).toContain('fine');
  });

  it('closes a connection of a client that is barred, and serves others and proxies', async () => {
    const isBarred = (client: string) => client !== '127.0.0.1';
    const { port, lines, metrics } = await serve(100, 100, (address) => address === '127.0.0.3', isBarred);
    expect(await answer(port, '127.0.0.2')).toBe('');
    expect([await answer(port), await answer(port, '127.0.0.3')]).toEqual([
      expect.stringContaining('fine'),
      expect.stringContaining('fine'),
    ]);
    expect((await metrics.text()).text).toContain('http_connections_refused_total{limit="pipelined"} 1');
    expect(lines).toMatchObject([{ limit: 'pipelined', msg: expect.stringContaining('given up too many pipelined') }]);
  });

  it.each([
    ['IPv6 addresses of one /64 as one', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ['an IPv4 address and the same written as IPv6 as one', '192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
  ])('counts %s', async (_what, first, same, other) => {
    const { port, server } = await serve(100, 1);
    const addresses = [first, same, other];
    // Runs before the limit; the machine of a test has one IPv6 address at most.
    server.prependListener('connection', (socket: Socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: addresses.shift() });
    });
    await open(port, 1);
    expect(await answer(port)).toBe('');
    expect(await answer(port)).toContain('fine');
  });

  it('counts the connections of a proxy only in total', async () => {
    const { port } = await serve(4, 1, (address) => address === '127.0.0.1');
    await open(port, 3);
    expect(await answer(port)).toContain('fine');
    await open(port, 1, '127.0.0.2');
    expect(await answer(port, '127.0.0.2')).toBe('');
  });
});
