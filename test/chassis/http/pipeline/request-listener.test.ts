import { createServer } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { noAnswerHeaders } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { refuseExpectations, requestListener } from '../../../../src/chassis/http/pipeline/request-listener.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, echoBody, memoryLog, throwing } from '../bare-app.ts';
import { listening, sendRaw } from '../listening.ts';

const { logger } = memoryLog();

describe('requestListener', () => {
  it.each(['http://[', 'http://', 'http://[::1/'])('answers the request target %s in the one body', async (target) => {
    await using server = await listening(
      createServer(requestListener(bareApp([requestPipeline(), echoBody]), { logger })),
    );
    const answer = await sendRaw(server.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(
      /^HTTP\/1\.1 400 .*x-request-id: .*"message":"The request has no Host header or two, or its target/s,
    );
  });

  it('answers a request without a Host header with 400 in the one body', async () => {
    const app = bareApp([requestPipeline(), echoBody]);
    await using server = await listening(createServer({ requireHostHeader: false }, requestListener(app, { logger })));
    expect(await sendRaw(server.port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .*"success":false/s,
    );
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
