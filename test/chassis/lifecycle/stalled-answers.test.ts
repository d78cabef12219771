import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limitedServer } from './limited-server.ts';

/** More than the operating system takes for a client that reads nothing. */
const large = Buffer.alloc(12_000_000, 'a');
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const proxy = '127.0.0.9';

async function serve(
  limits: Parameters<typeof limitedServer>[1],
  listener: RequestListener = (_req, res) => void res.end(large),
) {
  const { port } = await limitedServer(listener, limits, {
    isProxy: (address) => address === proxy,
    clientOf: ({ headers }) => String(headers['x-forwarded-for']),
  });
  return port;
}

/** A client that has sent this and reads nothing; `closed` once the service has cut it, which it finds by sending. */
async function deaf(
  port: number,
  localAddress = '127.0.0.1',
  text = get,
): Promise<{ socket: Socket; closed: Promise<void> }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
    .on('error', () => undefined)
    .pause();
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, closed };
}

/** The same through a proxy that tells of this client. */
const deafBehindProxy = (port: number, client: string) =>
  deaf(port, proxy, get.replace('\r\n\r\n', `\r\nX-Forwarded-For: ${client}\r\n\r\n`));

/** Sends a byte now and then, which fails once the service has cut the connection. */
function keepSending(socket: Socket): void {
  const timer = setInterval(() => socket.write('\r\n'), 50);
  socket.once('close', () => clearInterval(timer));
}

describe('an answer that nobody reads', () => {
  it('is cut when the client took nothing for HTTP_SEND_TIMEOUT_MS, whatever it sends', async () => {
    const { socket, closed } = await deaf(await serve({ HTTP_SEND_TIMEOUT_MS: 300 }));
    const started = performance.now();
    keepSending(socket);
    await closed;
    expect(performance.now() - started).toBeGreaterThan(250);
  });

  it('is served to the end to a client that reads slowly, and reads', async () => {
    const socket = connect(await serve({ HTTP_SEND_TIMEOUT_MS: 1500 }), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(get);
    const started = performance.now();
    let bytes = 0;
    for await (const chunk of socket) {
      bytes += (chunk as Buffer).length;
      if (performance.now() - started < 2500) await wait(20);
      if (bytes > large.length) break;
    }
    expect(bytes).toBeGreaterThan(large.length);
    expect(performance.now() - started).toBeGreaterThan(2000);
  });

  it('is cut first where all together hold more than HTTP_SEND_BUDGET_BYTES, the one stalled longest', async () => {
    const port = await serve({ HTTP_SEND_BUDGET_BYTES: 25_000_000 });
    const oldest = await deaf(port);
    keepSending(oldest.socket);
    const others = [];
    for (let count = 0; count < 2; count += 1) {
      await wait(250);
      others.push(await deaf(port));
    }
    await oldest.closed;
    expect(others.map(({ socket }) => socket.closed)).toEqual([false, false]);
  });

  it.each([
    ['', deaf],
    [', as a proxy tells it', deafBehindProxy],
  ] as const)(
    'is cut of the address that holds the most%s, also where another address has stalled for longer',
    async (_where, open) => {
      const port = await serve({ HTTP_SEND_BUDGET_BYTES: 25_000_000 });
      const slow = await open(port, '127.0.0.2');
      await wait(250);
      const first = await open(port, '127.0.0.1');
      await wait(250);
      const second = await open(port, '127.0.0.1');
      keepSending(slow.socket);
      keepSending(first.socket);
      await Promise.race([slow.closed, first.closed]);
      expect([slow, first, second].map(({ socket }) => socket.closed)).toEqual([false, true, false]);
    },
  );

  it('does not count as one while its handler is at work', async () => {
    const port = await serve({ HTTP_SEND_TIMEOUT_MS: 100 }, (_req, res) => {
      res.write('begun');
      setTimeout(() => res.end('done'), 500);
    });
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('begundone');
  });
});
