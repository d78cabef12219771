import { gzipSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { guardBody, readBodyFirst, withoutBody } from '../../../../src/chassis/http/bodies/request-body.ts';
import { publicAccess } from '../../../../src/chassis/http/pipeline/middleware.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, echoBody } from '../bare-app.ts';

/** A route whose guards are before the handlers that read. */
function route(...steps: RequestHandler[]) {
  const deferring = bodyParser({ limitBytes: 1_000_000, defer: true });
  const app = bareApp([requestPipeline(), deferring, ...steps]);
  guardBody(app);
  return (text: string | Buffer, encoding = 'identity') =>
    request(app)
      .post('/')
      .set({ 'content-type': 'application/json', 'content-encoding': encoding })
      .serialize((sent) => sent)
      .send(text as string);
}

const refuse: RequestHandler = (_req, res) => void res.status(403).json({ message: 'refused' });
const look: RequestHandler = (req, _res, next) => next(req.body === undefined ? undefined : new Error('looked'));

describe('a body of a route with guards', () => {
  it.each([
    ['as it is', '{"a":1}', 'identity'],
    ['compressed', gzipSync('{"a":1}'), 'gzip'],
  ])('is parsed for the first handler that may look at it: %s', async (_how, text, encoding) => {
    const add: RequestHandler = (req, _res, next) => {
      req.body.b = 2;
      next();
    };
    const send = route(readBodyFirst(publicAccess), readBodyFirst(add), readBodyFirst(echoBody));
    expect((await send(text, encoding)).body).toEqual({ body: { a: 1, b: 2 } });
  });

  it.each([
    ['no JSON', '[1,', 'identity', 400],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'identity', 400],
    ['no gzip', 'no gzip', 'gzip', 400],
    ['more values than may be', `[${'1,'.repeat(60_000)}1]`, 'identity', 413],
  ])('is neither decompressed nor parsed where a guard refuses: %s', async (_what, text, encoding, status) => {
    for (const guard of [refuse, readBodyFirst(withoutBody(refuse))]) {
      const { body } = await route(readBodyFirst(publicAccess), guard, readBodyFirst(echoBody))(text, encoding);
      expect(body.message).toBe('refused');
    }
    expect((await route(readBodyFirst(echoBody))(text, encoding)).status).toBe(status);
  });

  it('is parsed in its turn where it is long, so that many that may be parsed at once leave the event loop to others', async () => {
    const count = 24;
    let received = 0;
    let parsed = 0;
    const all = Promise.withResolvers<void>();
    const wait: RequestHandler = async (_req, _res, next) => {
      received += 1;
      if (received === count) all.resolve();
      await all.promise;
      next();
    };
    const done: RequestHandler = (_req, res) => {
      parsed += 1;
      res.json({});
    };
    const send = route(readBodyFirst(withoutBody(wait)), readBodyFirst(done));
    const text = `[${'1,'.repeat(40_000)}"${'x'.repeat(800_000)}"]`;
    const answers = Promise.all(Array.from({ length: count }, async () => (await send(text)).status));
    await all.promise;
    let most = 0;
    while (parsed < count) {
      const before = parsed;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, parsed - before);
    }
    expect(most).toBeLessThan(count / 2);
    expect(new Set(await answers)).toEqual(new Set([200]));
  });

  it('is not there for a guard, which is told so and lets nobody in', async () => {
    const { status, body } = await route(look, readBodyFirst(echoBody))('{"a":1}');
    expect([status, body.message]).toEqual([
      500,
      expect.stringMatching(/^Expected nothing to look at req\.body of POST \/ before the guards/),
    ]);
  });

  it('is none where a request brings none', async () => {
    const app = express().use(requestPipeline(), bodyParser({ limitBytes: 100, defer: true }), look, echoBody);
    guardBody(app);
    expect((await request(app).get('/')).body).toEqual({ body: null });
  });
});
