import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { createHttpServer, listen } from '../../../src/chassis/lifecycle/listen.ts';
import { memoryLog } from '../http/bare-app.ts';

const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 65_000 };
const host = '127.0.0.1';

async function serve(wanted = 0, settings?: Parameters<typeof listen>[2]) {
  const refusal = { headers: noAnswerHeaders, logger: memoryLog().logger };
  const server = createHttpServer((_req, res) => void res.end('fine'), times, refusal);
  const { port } = await listen(server, { host, port: wanted }, settings);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port };
}

async function open(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host }));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount;

describe.skipIf(process.platform !== 'linux')('a public port (on Linux, whose kernel spreads connections)', () => {
  /** In how many turns of the event loop so many connections are accepted that open at once. */
  async function turnsToAccept(count: number, settings?: Parameters<typeof listen>[2]): Promise<number> {
    const { server, port } = await serve(0, settings);
    let accepted = 0;
    const all = Promise.withResolvers<void>();
    server.on('connection', () => {
      accepted += 1;
      if (accepted === count) all.resolve();
    });
    const before = turns();
    await open(port, count);
    await all.promise;
    return turns() - before;
  }

  it('accepts many connections in each turn of the event loop, so that who opens hundreds keeps nobody waiting', async () => {
    expect(await turnsToAccept(320)).toBeLessThan(320 / 16);
  });

  it('accepts few in each turn behind proxies, so that the others wait where they take no place', async () => {
    const settings = { host: 'HOST', port: 'PORT', accepts: 'few' } as const;
    expect(await turnsToAccept(320, settings)).toBeGreaterThanOrEqual(320 / 16);
  });

  it('is closed once the connections of all its sockets have ended, and takes none from then on', async () => {
    const { server, port } = await serve();
    const sockets = await open(port, 64);
    const connections = () => new Promise((resolve) => server.getConnections((_error, found) => resolve(found)));
    await expect.poll(connections).toBe(64);
    let closed = false;
    server.close(() => {
      closed = true;
    });
    const refused = once(connect({ port, host }), 'connect');
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    for (const socket of sockets.slice(1)) socket.destroy();
    await expect.poll(connections).toBe(1);
    expect(closed).toBe(false);
    sockets[0]?.destroy();
    await expect.poll(() => closed).toBe(true);
  });

  it('is refused to a second process, which would get half of the connections', async () => {
    const { port } = await serve();
    const refusal = { headers: noAnswerHeaders, logger: memoryLog().logger };
    const second = createHttpServer(() => undefined, times, refusal);
    await expect(listen(second, { host, port })).rejects.toThrow(/found another process there/);
    expect(second.listening).toBe(false);
  });

  it('is had by two processes that say they share it, each of which gets a part of the connections', async () => {
    const shared = { host: 'HOST', port: 'PORT', accepts: 'many', isShared: true } as const;
    const { server, port } = await serve(0, shared);
    const { server: other } = await serve(port, shared);
    const accepted = [0, 0];
    for (const [index, each] of [server, other].entries()) {
      each.on('connection', () => {
        accepted[index] = (accepted[index] ?? 0) + 1;
      });
    }
    await open(port, 200);
    await expect.poll(() => Number(accepted[0]) + Number(accepted[1])).toBe(200);
    expect(Math.min(...accepted)).toBeGreaterThan(50);
  });
});
