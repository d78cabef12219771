import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { oneAtATime, type Situation } from './gated-server.ts';

const overloaded: Situation = { overloaded: true, waitMs: 600 };
/** Half of the target of `oneAtATime`. */
const restMs = 250;

/** How long each of two requests, one after the other's answer, waits for its own; in milliseconds. */
async function twoWaits(port: number): Promise<number[]> {
  const client = connect(port, '127.0.0.1');
  const waits = [await waitFor503(client), await waitFor503(client)];
  client.destroy();
  return waits;
}

async function waitFor503(client: Socket): Promise<number> {
  const began = performance.now();
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(String(await once(client, 'data'))).toMatch(/^HTTP\/1.1 503 /);
  return performance.now() - began;
}

describe('a connection whose request was refused', () => {
  it('rests while others wait for longer than that, and is answered then', async () => {
    await using server = await oneAtATime(overloaded);
    const waits = await Promise.all([twoWaits(server.port), twoWaits(server.port)]);
    for (const [first, second] of waits) {
      expect(first).toBeLessThan(restMs);
      expect(second).toBeGreaterThan(restMs - 20);
    }
  });

  it.each([
    ['nobody waits', { maximum: 0 }],
    ['it cannot meet its deadline', { standingMs: 60_000 }],
  ])('goes on at once where %s', async (_why, situation) => {
    await using server = await oneAtATime(situation);
    const began = performance.now();
    const headers = { 'X-Request-Deadline': String(Date.now() + 30_000) };
    for (let count = 0; count < 5; count += 1) expect(await server.status(headers)).toBe(503);
    expect(performance.now() - began).toBeLessThan(4 * restMs);
  });

  it('answers each request that was sent with the refused one', async () => {
    await using server = await oneAtATime(overloaded);
    const client = connect(server.port, '127.0.0.1');
    client.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
    let answers = '';
    for await (const piece of client) answers += String(piece);
    expect(answers.match(/HTTP\/1.1 503 /g)).toHaveLength(3);
  });

  it('is let go of when its client has left', async () => {
    await using server = await oneAtATime(overloaded);
    const client = connect(server.port, '127.0.0.1');
    await waitFor503(client);
    client.destroy();
    await expect.poll(() => server.connections()).toBe(0);
  });
});
