import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import type { Request } from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BodyBudget } from '../../../../src/chassis/http/bodies/body-budget.ts';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { requestContextOf } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp } from '../bare-app.ts';
import { listening } from '../listening.ts';

const limitBytes = 100_000;

/** A server that answers with the length of what it got, and holds 400,000 bytes of three requests and their bodies. */
async function server(seen: (req: Request) => void = () => undefined) {
  const app = bareApp([
    requestPipeline(),
    (req, _res, next) => {
      seen(req);
      next();
    },
    bodyParser({ limitBytes, budgetBytes: 400_000 }),
    (req, res) => void res.json({ length: JSON.stringify(req.body).length }),
  ]);
  return listening(createServer(app));
}

/** A client that sends all of a body but its last byte. */
async function unfinished(
  port: number,
  headers = '',
  body: Buffer = Buffer.from(JSON.stringify('a'.repeat(90_000))),
  localAddress = '127.0.0.1',
) {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}`);
  socket.write(`Content-Length: ${body.length}\r\n\r\n`);
  socket.write(body.subarray(0, -1));
  // Clients that are still waiting at the end of a test are cut off.
  const answer = text(socket).catch(() => 'cut off');
  return { socket, answer, finish: () => socket.write(body.subarray(-1)) };
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const isOpen = (socket: Socket) => !socket.readableEnded;

describe('bodies that come in at once', () => {
  it('are all read while they hold less than the budget, as those no longer do that have come in', async () => {
    await using service = await server();
    const read = async ({ finish, socket }: Awaited<ReturnType<typeof unfinished>>) => {
      finish();
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 200 /);
    };
    const oldest = await unfinished(service.port);
    for (let index = 0; index < 6; index += 1) await read(await unfinished(service.port));
    await read(oldest);
  });

  it('give way, the oldest first, with 503 and a closed connection', async () => {
    await using service = await server();
    const oldest = await unfinished(service.port);
    const others = [];
    for (let index = 0; index < 3; index += 1) others.push(await unfinished(service.port));
    expect(await oldest.answer).toMatch(/^HTTP\/1.1 503 .*Retry-After: 1.*"statusCode":503/is);
    expect(others.map(({ socket }) => isOpen(socket))).toEqual([true, true, true]);
    const quick = await fetch(`http://127.0.0.1:${service.port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"fine":true}',
    });
    expect(quick.status).toBe(200);
  });

  it('give way where their client holds the most, so that a small body of another comes in slowly', async () => {
    await using service = await server();
    const slow = await unfinished(service.port, '', Buffer.from('{"slow":true}'), '127.0.0.2');
    for (let index = 0; index < 6; index += 1) await unfinished(service.port);
    slow.finish();
    expect(await Promise.race([slow.answer, once(slow.socket, 'data').then(String)])).toMatch(/^HTTP\/1.1 200 /);
  });

  it('give way while no route reads them, as an upload whose caller is looked up, with what is read of them ahead', async () => {
    const waiting = Promise.withResolvers<void>();
    const abandoned: (string | undefined)[] = [];
    const app = bareApp([
      requestPipeline(),
      bodyParser({ limitBytes, budgetBytes: 400_000 }),
      async (req, res) => {
        await waiting.promise;
        abandoned.push(requestContextOf(req).abortReason);
        req.resume().once('end', () => res.headersSent || res.end('read'));
      },
    ]);
    await using service = await listening(createServer(app));
    const part = Buffer.alloc(200_000, 'a');
    const send = async () => {
      const socket = connect(service.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      socket.write(
        'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n',
      );
      socket.write(`Content-Length: ${part.length}\r\n\r\n`);
      socket.write(part);
      return text(socket).catch(() => 'cut off');
    };
    const answers = [send(), send(), send()];
    expect(await answers[0]).toMatch(/^HTTP\/1.1 503 .*Retry-After: 1/is);
    waiting.resolve();
    for (const answer of answers.slice(1)) expect(await answer).toMatch(/^HTTP\/1.1 200 /);
    expect(abandoned).toEqual([expect.stringContaining('Too many request bodies'), undefined, undefined]);
    // What was read counts no more.
    expect(await send()).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each([
    ['many', Array.from({ length: 80 }, (_, index) => `${index}:\r\n`).join('')],
    ['long', `long: ${'a'.repeat(12_000)}\r\n`],
  ])('count with the header fields of their requests, which are %s', async (_, fields) => {
    await using service = await server();
    const body = Buffer.from(JSON.stringify('a'.repeat(98_000)));
    const oldest = await unfinished(service.port, fields, body);
    await unfinished(service.port, fields, body);
    expect(isOpen(oldest.socket)).toBe(true);
    await unfinished(service.port, fields, body);
    expect(await oldest.answer).toMatch(/^HTTP\/1.1 503 /);
  });

  it('count with what their requests hold, so that many of one byte give way too', async () => {
    await using service = await server();
    const clients = [];
    for (let index = 0; index < 17; index += 1) clients.push(await unfinished(service.port, '', Buffer.from('{}')));
    expect(await clients[0]?.answer).toMatch(/^HTTP\/1.1 503 /);
    expect(clients.slice(1).map(({ socket }) => isOpen(socket))).toEqual(Array(16).fill(true));
  });

  it('hold little more than their bytes where they come in one by one', async () => {
    const requests: Request[] = [];
    await using service = await server((req) => requests.push(req));
    const bytes = 90_000;
    const socket = connect(service.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const sent = `1\r\n"\r\n${'1\r\na\r\n'.repeat(bytes)}`;
    const before = memoryInUse();
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(sent);
    await expect.poll(() => requests[0]?.socket.bytesRead, { timeout: 10_000 }).toBeGreaterThan(sent.length);
    // Each piece takes some 200 bytes where it is kept as it came.
    await expect.poll(() => memoryInUse() - before, { timeout: 5000 }).toBeLessThan(bytes * 50);
    socket.write('1\r\n"\r\n0\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toContain(`"length":${bytes + 2}`);
  });

  it('count as they come in where they are compressed, for no more is held', async () => {
    await using service = await server();
    const body = gzipSync(JSON.stringify('a'.repeat(90_000)));
    const clients = [];
    for (let index = 0; index < 4; index += 1) {
      clients.push(await unfinished(service.port, 'Content-Encoding: gzip\r\n', body));
    }
    for (const { finish, socket } of clients) {
      finish();
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1.1 200 .*"length":90002/s);
    }
  });

  it('are decompressed two at a time, and those that wait for it give way, the oldest first', async () => {
    const budget = new BodyBudget(10_000);
    let [running, most] = [0, 0];
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      return Buffer.from('alone');
    };
    const waiting = { client: 'a', mostBytes: 0, refusal: () => new Error('no room') };
    const all = Array.from({ length: 20 }, () => budget.decompress({ ...waiting, bytes: 1_000 }, work));
    const outcomes = (await Promise.allSettled(all)).map(({ status }) => status);
    expect(outcomes).toEqual([
      ...Array(2).fill('fulfilled'),
      ...Array(8).fill('rejected'),
      ...Array(10).fill('fulfilled'),
    ]);
    expect(most).toBe(2);
    expect(String(await budget.decompress({ ...waiting, bytes: 20_000 }, work))).toBe('alone');
  });

  it('are decompressed in the order of what was decompressed of their clients lately, so that who sends little waits for none', async () => {
    const budget = new BodyBudget(1_000_000);
    const begun: string[] = [];
    const refusal = () => new Error('no room');
    const send = (client: string, bytes: number) =>
      budget.decompress({ client, bytes: 1, mostBytes: 5_000, refusal }, async () => {
        begun.push(client);
        if (bytes > 5_000) throw new Error('too long');
        return Buffer.alloc(bytes);
      });
    // One whose body cannot be decompressed counts with what it may become.
    await expect(send('f', 9_000)).rejects.toThrow('too long');
    for (const client of 'abcde') await send(client, 1_000);
    begun.length = 0;
    await Promise.all([...'aabbccddeef'].map((client) => send(client, 1_000)).concat(send('n', 100), send('n', 100)));
    expect(begun.join('')).toBe('aannbcdeebcdf');
  });

  it('are refused where they have waited two seconds to be decompressed, and count no more', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const budget = new BodyBudget(1_000);
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    const waiting = { bytes: 600, mostBytes: 0, refusal: () => new Error('waited too long') };
    const under = [1, 2].map(() => budget.decompress({ client: 'a', ...waiting }, () => promise));
    const late = budget.decompress({ client: 'b', ...waiting }, () => promise).catch(String);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(await Promise.race([late, 'waits'])).toBe('waits');
    await vi.advanceTimersByTimeAsync(1);
    expect(await late).toBe('Error: waited too long');
    const next = budget.decompress({ client: 'b', ...waiting }, async () => Buffer.from('next'));
    resolve(Buffer.alloc(0));
    await Promise.all(under);
    expect(String(await next)).toBe('next');
  });

  it('do not count what is thrown away of a refused body', async () => {
    await using service = await server();
    const clients = await Promise.all([1, 2].map(() => unfinished(service.port)));
    const flood = connect(service.port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void flood.destroy());
    flood.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
    const answer = once(flood, 'data');
    for (let chunk = 0; chunk < 16; chunk += 1) flood.write(`10000\r\n${'a'.repeat(65_536)}\r\n`);
    expect(String(await answer)).toMatch(/^HTTP\/1.1 413 /);
    for (const { finish, socket } of clients) {
      finish();
      const [reply] = (await once(socket, 'data')) as [Buffer];
      expect(String(reply)).toMatch(/^HTTP\/1.1 200 /);
    }
  });
});
