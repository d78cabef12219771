import { createServer } from 'node:http';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { UnauthorizedException } from '../../../../src/chassis/errors/exceptions.ts';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, echoBody } from '../bare-app.ts';
import { listening, sendRaw } from '../listening.ts';

/** As a guard refuses a caller. */
const refused: RequestHandler = () => {
  throw new UnauthorizedException('Nobody');
};

it.each([
  ['parsed', false, 200, echoBody],
  ['looked at by nobody', true, 401, refused],
])('charges the request for a body in small chunks that is %s', async (_what, defer, status, handler) => {
  const costs: number[] = [];
  const watch: RequestHandler = (_req, res, next) => {
    const context = getRequestContext();
    res.on('finish', () => costs.push(context?.cost ?? 0));
    next();
  };
  const parser = bodyParser({ limitBytes: 100_000, defer });
  await using server = await listening(createServer(bareApp([requestPipeline(), watch, parser, handler])));
  const body = JSON.stringify('x'.repeat(59_998));
  for (const length of [60_000, 60]) {
    const chunks = (body.match(new RegExp(`.{${length}}`, 'g')) ?? []).map(
      (text) => `${length.toString(16)}\r\n${text}\r\n`,
    );
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
    const answer = await sendRaw(server.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
  }
  expect((costs[1] ?? 0) - (costs[0] ?? 0)).toBeCloseTo(40, 5);
});

it('charges the request for objects of ever other shapes more than for those of one', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `name${index}`);
  const objects = (turned: (index: number) => number) =>
    Array.from({ length: 20 }, (_, index) =>
      Object.fromEntries(names.map((_name, place) => [names[(place + turned(index)) % names.length], 1])),
    );
  const costs: number[] = [];
  const watch: RequestHandler = (_req, res, next) => {
    const context = getRequestContext();
    res.on('finish', () => costs.push(context?.cost ?? 0));
    next();
  };
  const charging = bareApp([requestPipeline(), watch, bodyParser({ limitBytes: 1_000_000 }), echoBody]);
  for (const turned of [() => 0, (index: number) => index]) {
    await request(charging)
      .post('/')
      .send({ filler: 'x'.repeat(12_000), objects: objects(turned) });
  }
  // 380 names more of other shapes.
  expect((costs[1] ?? 0) - (costs[0] ?? 0)).toBeCloseTo(3.8, 5);
});
