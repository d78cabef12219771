import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { anyProvider, emptyDatabase } from '../support/empty-database.ts';
import { killSpawned, type SpawnedService } from '../support/spawn-service.ts';
import { boot } from './overload.ts';

afterAll(killSpawned);

const sockets: Socket[] = [];

/** Opens connections from a dozen addresses, each of which may have a thousand. */
async function open(port: number, count: number, text: string, read: boolean): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.7.${1 + (index % 12)}` });
    socket.on('error', () => socket.destroy());
    socket.on('connect', () => socket.write(text));
    if (read) socket.resume();
    else socket.pause();
    sockets.push(socket);
    if (index % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
}

function memory({ child }: SpawnedService, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024);
}

const widest = `/api/v1/categories/paginated?pageSize=100&include=${encodeURIComponent('{"products":{"take":100}}')}`;

// With the limit of a container it lives too, measured in a control group of 256 MiB. Without one the process gives less
// memory back, and what it takes counts the pages that it shares with others, so the bound is wider here.
describe.skipIf(!existsSync('/proc/self/status'))('a service with the heap of a pod of 256 MiB (needs /proc)', () => {
  it('outlives 150 clients that pipeline 20 downloads of 2 MB each and read nothing', {
    timeout: 120_000,
  }, async () => {
    const { settings, remove } = await emptyDatabase(anyProvider);
    const uploads = mkdtempSync(join(tmpdir(), 'slipway-soak-'));
    writeFileSync(join(uploads, 'large.png'), Buffer.alloc(2_000_000));
    const env = { NODE_OPTIONS: '--max-old-space-size=192', LOCAL_UPLOAD_DIR: uploads };
    const { service, url } = await boot(settings.DATABASE_URL, 'small', env);
    const before = memory(service, 'VmRSS');
    const download = 'GET /uploads/large.png HTTP/1.1\r\nHost: a\r\n\r\n';
    await open(Number(new URL(url).port), 150, download.repeat(20), false);
    const asked = Date.now();
    await expect.poll(() => Date.now() - asked > 5000, { timeout: 30_000 }).toBe(true);
    // 3,000 files that are read ahead would take 400 MiB.
    expect(memory(service, 'VmHWM') - before).toBeLessThan(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    expect((await service.end()).code).toBe(0);
    rmSync(uploads, { recursive: true });
    await remove();
  });

  it('outlives 60 connections to its internal port that pipeline 2,000 scrapes each and read nothing', {
    timeout: 60_000,
  }, async () => {
    const { settings, remove } = await emptyDatabase(anyProvider);
    const { service, internalUrl } = await boot(settings.DATABASE_URL);
    const before = memory(service, 'VmRSS');
    const scrapes = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000);
    await open(Number(new URL(internalUrl).port), 60, scrapes, false);
    const asked = Date.now();
    await expect.poll(() => Date.now() - asked > 5000, { timeout: 30_000 }).toBe(true);
    // 120,000 texts of 18 KB would take two gigabytes.
    expect(memory(service, 'VmHWM') - before).toBeLessThan(60);
    for (const socket of sockets.splice(0)) socket.destroy();
    expect((await service.end()).code).toBe(0);
    await remove();
  });

  it('outlives 9,000 unfinished POSTs, 60 clients that read no answers, 300 that want them compressed and 5,000 idle connections', {
    timeout: 180_000,
  }, async () => {
    const { settings, remove } = await emptyDatabase(anyProvider);
    const { service, url } = await boot(settings.DATABASE_URL, 'small', { NODE_OPTIONS: '--max-old-space-size=192' });
    const port = Number(new URL(url).port);
    const ask = async () => {
      const answer = await fetch(`${url}/api/v1/products/paginated?pageSize=20`);
      await answer.arrayBuffer();
      return answer.status;
    };
    const head = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    await open(port, 9000, `${head}Content-Length: 900000\r\n\r\n"${'x'.repeat(20_000)}`, true);
    await open(port, 60, `GET ${widest} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(7), false);
    const compressed = `GET ${widest} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n`;
    await open(port, 300, compressed, true);
    await open(port, 5000, '', true);
    const asked = Date.now();
    await expect.poll(() => memory(service, 'VmRSS') > 0 && Date.now() - asked > 5000, { timeout: 30_000 }).toBe(true);
    expect(service.child.exitCode).toBeNull();
    expect(memory(service, 'VmHWM')).toBeLessThan(400);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => ask().catch(() => 0), { timeout: 30_000 }).toBe(200);
    expect((await service.end()).code).toBe(0);
    await remove();
  });
});
