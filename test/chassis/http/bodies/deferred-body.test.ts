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
