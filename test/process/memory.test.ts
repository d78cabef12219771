import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const sockets: Socket[] = [];

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await killSpawned();
});

const mib = 1_048_576;
/** By the heap: 120 MiB of it, the young generation among them, go with 160 MiB in all. */
const limit = 160;
const env = {
  NODE_OPTIONS: '--max-old-space-size=117 --max-semi-space-size=1',
  // As in the image.
  ...{ MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
  ...{ DATABASE_SEED: 'small', ENABLE_OPENAPI: 'false', SHUTDOWN_DEADLINE_MS: '0', SHUTDOWN_ACCEPT_MS: '0' },
};

/** The memory of a process that no other shares, in MiB. */
function memoryOf({ child }: SpawnedService): number {
  const [, resident, shared] = readFileSync(`/proc/${child.pid}/statm`, 'latin1').split(' ');
  return ((Number(resident) - Number(shared)) * 4096) / mib;
}

/** Clients that send this and read nothing, from addresses of their own. */
function open(port: number, count: number, text: string): void {
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.9.${1 + (index % 100)}` });
    socket.on('error', () => socket.destroy());
    socket.pause().write(text);
    sockets.push(socket);
  }
}

const list = `/api/v1/categories/paginated?pageSize=100&include=${encodeURIComponent('{"products":{"take":100}}')}`;

describe.skipIf(process.platform !== 'linux')('a service with little memory (needs /proc)', () => {
  it('lives below its limit and serves others while clients fill all budgets at once', {
    timeout: 60_000,
  }, async () => {
    const service = new SpawnedService({ env });
    const { url } = await service.ready();
    const port = Number(new URL(url).port);
    const body = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 1000000';
    open(port, 1000, 'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n');
    open(port, 30, `POST /api/v1/auth/login HTTP/1.1\r\n${body}\r\n\r\n"${'x'.repeat(900_000)}`);
    open(port, 30, `GET ${list} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(4));
    open(port, 30, `GET ${list} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br\r\n\r\n`.repeat(4));
    let most = 0;
    for (let sample = 0; sample < 60; sample += 1) {
      await wait(100);
      most = Math.max(most, memoryOf(service));
    }
    expect(most).toBeLessThan(limit);
    // Beyond this share the guard calls it critical. Where nobody looks it stays at nine tenths until answers are cut as stalled.
    const critical = limit * 0.8;
    await expect.poll(() => memoryOf(service), { timeout: 12_000, interval: 100 }).toBeLessThan(critical);
    const answer = await fetch(`${url}/api/v1/products/paginated?pageSize=20`);
    expect(answer.status).toBe(200);
  });
});
