import { readFileSync } from 'node:fs';
import { platform } from 'node:process';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';
import { hostileApp, raw } from './hostile-app.ts';

const { app, port, faults } = await hostileApp();
afterAll(killSpawned);
afterAll(() => expect(faults).toEqual([]));

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(app.url + path, {
    method: 'POST',
    body: body as string,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('a body', () => {
  it.each([
    ['very many brackets', '['.repeat(49_000)],
    ['objects in objects', '{"a":'.repeat(15_000)],
    ['an array of 45,000 numbers', `[${'1,'.repeat(45_000)}1]`],
    ['20,000 empty arrays', `{"email":[${'[],'.repeat(20_000)}[]]}`],
    ['as many fields as may be', `{${Array.from({ length: 2_000 }, (_, index) => `"f${index}":1`).join()}}`],
    ['a number of 90,000 digits', `{"email":${'9'.repeat(90_000)}}`],
    ['a text of 90,000 characters', `{"email":"${'a@'.repeat(45_000)}","password":"x","name":"x"}`],
    ['a lone surrogate', '{"email":"\\ud800@example.com","password":"correct horse battery","name":"x"}'],
    ['a NUL in a text', '{"email":"a\\u0000@example.com","password":"correct horse battery","name":"x"}'],
    ['a NUL in a name', '{"email":"nul@example.com","password":"correct horse battery","name":"x\\u0000y"}'],
    ['__proto__', '{"__proto__":{"role":"admin"}}'],
  ])('of %s is answered with 400 at once', async (_what, body) => {
    const started = performance.now();
    const { status } = await post('/auth/register', body);
    expect(status).toBe(400);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it('that is no UTF-8 is answered with 400', async () => {
    for (const bytes of [[0xff], [0xc0, 0xae], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"email":"'), Buffer.from(bytes), Buffer.from('"}')]);
      const answer = await post('/auth/register', body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ message: 'The request body is not valid UTF-8' });
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await post('/auth/login', Buffer.from([0x61, 0x3d, 0xff]), form)).status).toBe(400);
  });

  it.each([
    ['GET /api/v1/products', 'text/plain'],
    ['POST /auth/logout', 'application/json'],
    ['POST /nowhere', 'multipart/form-data; boundary=b'],
  ])('in chunks of one byte has its connection cut at %s', async (line, type) => {
    const head = `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const cuts = async () =>
      Number(/_cut_total\{reason="chunks"\} (\d+)/.exec((await app.internal.get('/metrics')).text ?? '')?.[1]);
    const before = await cuts();
    await raw(port, head + '1\r\nx\r\n'.repeat(5_000));
    expect(await cuts()).toBe(before + 1);
  });

  it('gives no prototype a field', async () => {
    await post('/auth/register', '{"constructor":{"prototype":{"polluted":true}}}');
    await post('/auth/register', '__proto__[polluted]=true', { 'content-type': 'application/x-www-form-urlencoded' });
    await app.get('/api/v1/products?where[__proto__][polluted]=true');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe.skipIf(platform !== 'linux')('a bomb (needs /proc)', () => {
  const zeros = Buffer.alloc(100_000_000, 32);
  const bombs: [string, Buffer][] = [
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['br', brotliCompressSync(zeros)],
  ];

  it('is answered with 413 after a megabyte of it, and takes no more memory than that', async () => {
    const service = new SpawnedService({ env: { ENABLE_OPENAPI: 'false', LOG_LEVEL: 'info' } });
    const { url } = await service.ready();
    const send = async (encoding: string, body: Buffer) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      return (await fetch(`${url}/auth/login`, { method: 'POST', headers, body: body as never })).status;
    };
    await send('gzip', gzipSync('{}'));
    const before = peakMemory(service.child.pid);
    for (const [encoding, body] of bombs) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(encoding, body)));
      expect([encoding, ...new Set(answers)]).toEqual([encoding, 413]);
    }
    expect(peakMemory(service.child.pid) - before).toBeLessThan(120);
    // What was compressed twice is refused as it is.
    expect(await send('gzip, gzip', gzipSync(gzipSync('{}')))).toBe(415);
  });
});

/** The most memory that a process has ever had, in megabytes. */
function peakMemory(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
