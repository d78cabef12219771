import { createServer, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { RequestHandler } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { readBodyFirst } from '../../../../src/chassis/http/bodies/request-body.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, echoBody } from '../bare-app.ts';
import { listening } from '../listening.ts';

/** What is held is 400,000 bytes at most. */
async function server(handler: RequestHandler, defer = false) {
  const app = bareApp([requestPipeline(), bodyParser({ limitBytes: 100_000, budgetBytes: 400_000, defer }), handler]);
  const { port, ...closing } = await listening(createServer(app));
  function send(text: string, address: string) {
    const req = request({ port, host: '127.0.0.1', localAddress: address, method: 'POST', agent: false });
    onTestFinished(() => void req.destroy());
    const answer = new Promise<{ statusCode: number; message?: string }>((resolve, reject) => {
      req.on('response', (res) => json(res).then((body) => resolve(body as never), reject)).on('error', reject);
    });
    answer.catch(() => undefined);
    req.setHeader('content-type', 'application/json').end(text);
    return { answer, leave: () => req.destroy() };
  }
  return { ...closing, send };
}

const long = JSON.stringify('a'.repeat(90_000));
const manyValues = `[${'1,'.repeat(1_800)}1]`;

describe.each([
  ['long texts', long],
  ['many values', manyValues],
])('parsed bodies of %s', (_what, body) => {
  it('are kept by the requests of one address up to what it leaves free, so that others have room, until they are over', async () => {
    const waiting = Promise.withResolvers<void>();
    let arrived = 0;
    const allWait = Promise.withResolvers<void>();
    await using service = await server(async (_req, res) => {
      arrived += 1;
      if (arrived === 4) allWait.resolve();
      await waiting.promise;
      res.json({ statusCode: 200 });
    });
    const own = [1, 2, 3].map(() => service.send(body, '127.0.0.2'));
    const refused = await Promise.race(own.map(({ answer }) => answer));
    expect(refused).toMatchObject({ statusCode: 503, message: expect.stringMatching(/^Requests of yours/) });
    // Small bodies take no part.
    const small = service.send('{"fine":true}', '127.0.0.2');
    const other = service.send(body, '127.0.0.3');
    await allWait.promise;
    waiting.resolve();
    expect(await small.answer).toEqual({ statusCode: 200 });
    expect(await other.answer).toEqual({ statusCode: 200 });
    expect((await Promise.all(own.map(({ answer }) => answer))).map(({ statusCode }) => statusCode).sort()).toEqual([
      200, 200, 503,
    ]);
    expect(await service.send(body, '127.0.0.2').answer).toEqual({ statusCode: 200 });
  });
});

describe('bodies that have come in', () => {
  it('count before they are parsed too, while their requests wait for a guard', async () => {
    const waiting = Promise.withResolvers<void>();
    await using service = await server(async (_req, res) => {
      await waiting.promise;
      res.json({ statusCode: 200 });
    }, true);
    const own = [1, 2, 3].map(() => service.send(long, '127.0.0.2').answer);
    expect(await Promise.race(own)).toMatchObject({
      statusCode: 503,
      message: expect.stringMatching(/^Requests of yours/),
    });
    waiting.resolve();
    expect((await Promise.all(own)).map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 503]);
  });

  it('count once, so that one alone may take more than there is', async () => {
    await using service = await server(readBodyFirst(echoBody), true);
    const values = Array.from({ length: 40_000 }, () => 1);
    for (let count = 0; count < 3; count += 1)
      expect(await service.send(JSON.stringify(values), '127.0.0.2').answer).toEqual({ body: values });
  });
});

describe('a parsed body whose client has left', () => {
  it('counts on, for the work that still has it', async () => {
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const closed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let next = 0;
    await using service = await server((_req, res) => {
      const index = next;
      next += 1;
      res.once('close', () => closed[index]?.resolve());
      arrived[index]?.resolve();
    });
    const gone = [1, 2].map(() => service.send(long, '127.0.0.2'));
    await Promise.all(arrived.map(({ promise }) => promise));
    for (const { leave } of gone) leave();
    await Promise.all(closed.map(({ promise }) => promise));
    expect(await service.send(long, '127.0.0.2').answer).toMatchObject({ statusCode: 503 });
  });
});
