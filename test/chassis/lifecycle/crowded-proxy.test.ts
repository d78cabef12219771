import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bootTestApp } from '../../support/boot-test-app.ts';

const total = 160;
const app = await bootTestApp({
  env: {
    ...{ OVERLOAD_ENABLED: 'true', TRUST_PROXY: 'loopback' },
    ...{ HTTP_MAX_CONNECTIONS: `${total}`, HTTP_MAX_CONNECTIONS_PER_ADDRESS: `${total}` },
  },
});

/** A connection of the proxy, for what it sends for a client. */
async function opened(): Promise<Socket> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket.on('error', () => undefined);
}

const slow = (client: string) =>
  `POST /auth/login HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{`;
const page = (client: string) => `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n\r\n`;

/** The status of what comes on a connection first. */
async function statusOf(socket: Socket, request: string): Promise<string> {
  const answer = once(socket, 'data');
  socket.write(request);
  return String((await answer)[0]).slice(9, 12);
}

/** How many sockets listen on a port, as Linux tells it. */
async function socketsThatListen(url: string): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const all = (await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')))).join('');
  return all.match(new RegExp(`:${port} [0-9A-F]+:0000 0A `, 'g'))?.length ?? 0;
}

it.skipIf(process.platform !== 'linux')(
  'a service accepts by fewer sockets behind proxies (Linux tells their number)',
  async () => {
    const direct = await bootTestApp({ env: { TRUST_PROXY: '0' } });
    expect(await socketsThatListen(app.url)).toBe(16);
    expect(await socketsThatListen(direct.url)).toBe(128);
  },
);

describe('a service behind a proxy whose connections run short', () => {
  it('refuses what clients with more than their share ask for, and so has connections left for others', async () => {
    const refusals: string[] = [];
    for (let count = 0; count < total; count += 1) {
      const socket = await opened();
      socket.on('data', (answer: string) => refusals.push(answer));
      socket.write(slow(`192.0.2.${count % 2}`));
    }
    // Up to three quarters of all are left to whoever asks.
    await expect.poll(() => refusals.length).toBeGreaterThanOrEqual(total / 4 - 1);
    expect(new Set(refusals.map((answer) => answer.slice(9, 12)))).toEqual(new Set(['503']));
    // For each that is closed the proxy opens a new one when the client comes back; one that stays gives way by itself.
    expect(refusals.filter((answer) => /^connection: close/im.test(answer))).toEqual([]);
    expect(await statusOf(await opened(), page('203.0.113.9'))).toBe('200');
  });
});
