import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { LoopWait } from '../../../src/chassis/admission/standing-wait.ts';
import { listening } from '../http/listening.ts';

/** A server that works for so long on each request without a pause, and what each found that it had waited. */
async function busyFor(ms: number) {
  const wait = new LoopWait();
  const seen: number[] = [];
  const server = createServer((_req, res) => {
    const began = performance.now();
    seen.push(wait.at(began));
    work(ms);
    res.end();
  });
  const open = await listening(server);
  const send = (count: number) =>
    Promise.all(Array.from({ length: count }, () => fetch(`http://127.0.0.1:${open.port}`)));
  return Object.assign(open, { seen, send, sendTogether: (count: number) => sendTogether(open.port, count) });
}

/** Connects first and writes all requests in one turn of the loop, so that the server reads them in one. */
async function sendTogether(port: number, count: number): Promise<void> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'end')));
}

function work(ms: number): void {
  const began = performance.now();
  while (performance.now() - began < ms);
}

/** Keeps the loop busy for a while in turns of so many milliseconds each. */
async function turns(count: number, ms: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise(setImmediate);
    work(ms);
  }
}

describe('LoopWait', () => {
  it('is what the loop does before, for requests that come together', async () => {
    await using server = await busyFor(60);
    await server.sendTogether(4);
    expect(Math.max(...server.seen)).toBeGreaterThanOrEqual(60);
  });

  it('is one turn for a request that comes alone, however long the loop has been busy', async () => {
    await using server = await busyFor(1);
    await server.send(1);
    const answer = server.send(1);
    await turns(60, 10);
    await answer;
    await turns(60, 10);
    await server.send(1);
    expect(server.seen.at(-1)).toBeLessThan(300);
  });

  it('leaves nothing behind that keeps the loop from its rest', async () => {
    await using server = await busyFor(1);
    await server.send(5);
    const before = performance.eventLoopUtilization();
    await server.send(1);
    await expect.poll(() => performance.eventLoopUtilization(before).idle).toBeGreaterThan(10);
  });
});
