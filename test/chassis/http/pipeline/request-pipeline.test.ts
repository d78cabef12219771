import { createServer } from 'node:http';
import express, { type Request } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import type { RequestObserver, RequestOutcome } from '../../../../src/chassis/context/request-observer.ts';
import { noAnswerHeaders } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { requestContextOf } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import {
  refuseExpectations,
  requestListener,
  requestPipeline,
} from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { heapInUse } from '../../../support/heap-in-use.ts';
import { bareApp, echoBody, memoryLog, throwing } from '../bare-app.ts';
import { listening, sendRaw } from '../listening.ts';

const app = bareApp([
  requestPipeline(),
  async (req, res) => {
    await Promise.resolve();
    res.json({ context: getRequestContext(), same: getRequestContext() === requestContextOf(req) });
  },
]);

describe('requestPipeline', () => {
  it('runs the rest of the request in its context', async () => {
    const { body } = await request(app).get('/a/b?c=1').set('user-agent', 'test');
    expect(body).toEqual({
      context: {
        requestId: expect.any(String),
        method: 'GET',
        url: '/a/b?c=1',
        userAgent: 'test',
        ipAddress: expect.stringContaining('127.0.0.1'),
        cost: 0,
        startTime: expect.any(String),
      },
      same: true,
    });
  });

  it.each([
    ['/livez', true],
    ['/readyz/?x=1', true],
    ['/LIVEZ', undefined],
    ['/readyz/all', undefined],
  ])('says of %s whether it is a probe: %s', async (path, isProbe) => {
    expect((await request(app).get(path)).body.context.isProbe).toBe(isProbe);
  });

  it('tells observers the status that the client got, and 499 where it went before there was one', async () => {
    const outcomes: RequestOutcome[] = [];
    const observer: RequestObserver = { closed: (_context, _req, _res, outcome) => void outcomes.push(outcome) };
    const observed = bareApp([
      requestPipeline({ observers: [observer] }),
      (req, res) => void (req.path === '/gone' ? req.socket.destroy() : res.status(202).end()),
    ]);
    await request(observed).get('/here');
    await expect(request(observed).get('/gone')).rejects.toThrow();
    await expect
      .poll(() => outcomes)
      .toMatchObject([
        { status: 202, aborted: false },
        { status: 499, aborted: true },
      ]);
  });

  const ofGateway = 'gateway-eu-e0a8d9f2-0b0c-4b7a-9d0e-2f6f1b1c2d3e-7c9e6679-7425-40de-944b-e07fc1f90ae7';

  it.each(['a', 'A-1._', 'x'.repeat(128), ofGateway])('takes the inbound request id %s', async (id) => {
    const { headers } = await request(app).get('/').set('x-request-id', id);
    expect(headers['x-request-id']).toBe(id);
  });

  const token = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2ln';
  const apiKey = `shop_${'0f'.repeat(52)}`;
  const refreshToken = `${'aB3-_'.repeat(17)}x`;
  const refused = ['', 'x'.repeat(129), 'a b', 'a/b', 'ä', token, apiKey, refreshToken];

  it.each(refused)('makes an id in the place of "%s"', async (id) => {
    const { headers, body } = await request(app).get('/').set('x-request-id', id);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.context.requestId).toBe(headers['x-request-id']);
  });

  it('keeps at most 2,048 characters of the URL', async () => {
    const { body } = await request(app).get(`/?q=${'x'.repeat(5_000)}`);
    expect(body.context.url).toHaveLength(2_048);
  });

  it.each(['/%zz', '/%', '/a/%E0%A4%A/b', '/%ff?x=1'])('answers the malformed path %s with 400', async (path) => {
    const response = await request(app).get(path);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ success: false, message: 'The URL holds malformed percent-encoding' });
    expect(response.headers['x-request-id']).toBeDefined();
  });

  it('masks secrets in the URL and in the user agent, once for logs, spans and monitors', async () => {
    const { body } = await request(app).get('/a?sid=hidden').set('user-agent', 'shop/1.0 password=hidden');
    expect(body.context).toMatchObject({ url: '/a?sid=[redacted]', userAgent: 'shop/1.0 password=[redacted]' });
  });

  it('keeps at most 512 characters of the user agent', async () => {
    const { body } = await request(app).get('/a').set('user-agent', 'x'.repeat(5000));
    expect(body.context.userAgent).toBe('x'.repeat(512));
  });

  it('keeps nothing of what it leaves out of a long URL or user agent', () => {
    const long = (start: string) => Buffer.alloc(100_000, start).toString('latin1');
    const before = heapInUse();
    const contexts = Array.from({ length: 100 }, (_, index) => {
      const headers = { 'user-agent': long(`${index % 10}`) };
      return requestContextOf({ headers, method: 'GET', url: long('/'), socket: {} } as unknown as Request);
    });
    expect(heapInUse() - before).toBeLessThan(2_000_000);
    expect(contexts[7]).toMatchObject({ url: '/'.repeat(2048), userAgent: '7'.repeat(512) });
  });

  it('leaves the query to those who read it', async () => {
    expect((await request(app).get('/%20?x=%zz')).status).toBe(200);
  });
});

const { logger } = memoryLog();

describe('requestListener', () => {
  it.each(['http://[', 'http://', 'http://[::1/'])('answers the request target %s in the one body', async (target) => {
    await using server = await listening(
      createServer(requestListener(bareApp([requestPipeline(), echoBody]), { logger })),
    );
    const answer = await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(
      /^HTTP\/1\.1 400 .*x-request-id: .*"message":"The request has no Host header or two, chunks in HTTP\/1\.0, or a target/s,
    );
  });

  it('answers a request without a Host header with 400 in the one body', async () => {
    const app = bareApp([requestPipeline(), echoBody]);
    await using server = await listening(createServer({ requireHostHeader: false }, requestListener(app, { logger })));
    expect(await sendRaw(server.port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .*"success":false/s,
    );
  });

  it('answers chunks in HTTP/1.0, which a proxy takes for further requests, with 400 and closes the connection', async () => {
    await using server = await listening(createServer(requestListener(bareApp([echoBody]), { logger })));
    const head = 'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await sendRaw(server.port, `${head}0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*connection: close/is);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it('answers an expectation that it cannot meet with 417 in the one body', async () => {
    const server = createServer(requestListener(bareApp([echoBody]), { logger }));
    server.on('checkExpectation', refuseExpectations({ headers: noAnswerHeaders, logger }));
    await using listener = await listening(server);
    const request = 'GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n';
    expect(await sendRaw(listener.port, request)).toMatch(/^HTTP\/1\.1 417 .*"statusCode":417/s);
  });

  it.each([
    ['http://evil.test/a?b=1', '/a?b=1'],
    ['https://evil.test', '/'],
    ['http://evil.test?b', '/?b'],
  ])('takes the target %s for its path', async (target, path) => {
    const app = express().use((req, res) => void res.json({ url: req.originalUrl }));
    await using server = await listening(createServer(requestListener(app, { logger })));
    const answer = await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toContain(JSON.stringify({ url: path }));
  });

  it('answers what the error handler passes on without telling what it is', async () => {
    const app = express().use(throwing(new Error('hunter2')));
    await using server = await listening(createServer(requestListener(app, { logger })));
    const response = await fetch(`http://127.0.0.1:${server.port}/`);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ success: false, message: 'Internal Server Error' });
  });

  it('leaves every other request to the app', async () => {
    await using server = await listening(createServer(requestListener(bareApp([echoBody]), { logger })));
    expect(await (await fetch(`http://127.0.0.1:${server.port}/`)).json()).toEqual({ body: null });
  });
});
