import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { AnswerHeaders } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { answerClientErrors, refuseTunnels } from '../../../../src/chassis/http/answers/client-error.ts';
import { writeTogether } from '../../../../src/chassis/http/answers/responses.ts';
import type { Logger } from '../../../../src/chassis/telemetry/logger.ts';
import { bareApp, echoBody, type LogLine, memoryLog } from '../bare-app.ts';
import { listening, sendRaw } from '../listening.ts';

let logger: Logger;
let lines: LogLine[];
beforeEach(() => {
  ({ logger, lines } = memoryLog());
});

async function answerTo(bytes: string, options: object = {}): Promise<{ status: number; body: unknown }> {
  const refusal = { headers: new AnswerHeaders({}), logger };
  const server = createServer(options, bareApp([echoBody])).on('clientError', answerClientErrors(refusal));
  await using address = await listening(server);
  const answer = await sendRaw(address.port, bytes);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toContain('content-type: application/json');
  expect(head).toContain(`content-length: ${body.length}`);
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

describe('answerClientErrors', () => {
  it.each([
    ['bytes that are no HTTP', 'hello\r\n\r\n', 400],
    ['a malformed request target', 'GET ?x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ])('answers %s in the one body', async (_what, bytes, status) => {
    const answer = await answerTo(bytes);
    expect(answer).toEqual({
      status,
      body: { success: false, message: expect.any(String), statusCode: status, timestamp: expect.any(String) },
    });
    expect(lines).toMatchObject([{ level: 'warn', statusCode: status }]);
  });

  it('answers a request that comes too slowly with 408', async () => {
    const options = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 };
    expect((await answerTo('GET / HTTP/1.1\r\nHost', options)).status).toBe(408);
  });

  it('reads what follows a refusal, so that a proxy that sends a body gets the refusal and no reset', async () => {
    const refusal = { headers: new AnswerHeaders({}), logger };
    await using address = await listening(createServer().on('clientError', answerClientErrors(refusal)));
    const socket = connect(address.port, '127.0.0.1').pause();
    const failed: Error[] = [];
    socket.on('error', (error) => failed.push(error));
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\nX-A: ${'x'.repeat(40_000)}\r\n\r\n`);
    for (let sent = 0; sent < 20; sent += 1) await new Promise((done) => socket.write('b'.repeat(50_000), done));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
    expect([failed, lines.length]).toEqual([[], 1]);
  });

  it('leaves a request that came before its answer, which is not written before the turn ends', async () => {
    const refusal = { headers: new AnswerHeaders({}), logger };
    const answers = createServer((_request, response) => response.end('first')).on(
      'clientError',
      answerClientErrors(refusal),
    );
    writeTogether(answers);
    await using address = await listening(answers);
    const answer = await sendRaw(address.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nno request\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nfirst$/);
  });

  it.each([
    ['stays away', 'Content-Length: 9\r\n\r\nslow'],
    ['is malformed', 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nno size'],
  ])(
    'gives no second answer to a request that is answered before its body, of which the rest %s',
    async (_rest, body) => {
      const options = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 };
      const refusal = { headers: new AnswerHeaders({}), logger };
      const early = createServer(options, (_request, response) => void response.end('first')).on(
        'clientError',
        answerClientErrors(refusal),
      );
      await using address = await listening(early);
      const answer = await sendRaw(address.port, `POST / HTTP/1.1\r\nHost: a\r\n${body}`);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer.split('HTTP/1.1 ')).toHaveLength(2);
      expect(lines).toEqual([]);
    },
  );

  it('does not log the bytes', async () => {
    await answerTo('GET /?token=hunter2 HTTP/9.9\r\n\r\n');
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
});

describe('refuseTunnels', () => {
  it('leaves the process alone where the client of a tunnel has reset its connection before it is answered', async () => {
    const uncaught: Error[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => uncaught.push(error));
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of others) process.on('uncaughtException', listener);
    });
    const server = createServer().on('connect', refuseTunnels({ headers: new AnswerHeaders({}), logger }));
    await using address = await listening(server);
    const client = connect(address.port, '127.0.0.1');
    const [[socket]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [
      [Socket],
      unknown,
    ];
    const closed = new Promise((resolve) => socket.on('close', resolve));
    client.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    client.resetAndDestroy();
    await closed;
    expect(lines).toMatchObject([{ level: 'warn', code: 'CONNECT' }]);
    expect(uncaught).toEqual([]);
  });
});
