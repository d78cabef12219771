import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectGarbage } from '../../../../src/chassis/config/private-memory.ts';
import { noAnswerHeaders } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { requestContextOf } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { createHttpServer } from '../../../../src/chassis/lifecycle/listen.ts';
import { bareApp, echoBody, memoryLog } from '../bare-app.ts';
import { listening } from '../listening.ts';

const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 65_000 };
const json = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

async function serve(listener: RequestListener) {
  const server = await listening(
    createHttpServer(listener, times, { headers: noAnswerHeaders, logger: memoryLog().logger }),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server.port;
}

const echo = () => serve(bareApp([bodyParser({ limitBytes: 100_000 }), echoBody]) as unknown as RequestListener);

/** A client that sends this and nothing more, and keeps its side open. */
function client(port: number, bytes: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  return socket;
}

describe('a body that is not read', () => {
  it.each([
    ['too large by its length', 413, `${json}Content-Length: 99999999999\r\n\r\n{}`],
    ['of another type', 415, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n{}'],
    ['of no known length', 415, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])(
    '%s is answered %i at once, and the connection is closed for a client that never closes it',
    async (_what, status, bytes) => {
      const started = performance.now();
      const socket = client(await echo(), bytes);
      const answer = await text(socket);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'));
      expect(performance.now() - started).toBeLessThan(1000);
      // The client goes on sending, and finds that nobody reads it any more.
      const sending = setInterval(() => socket.write('a'), 20);
      await new Promise((closed) => socket.once('close', closed));
      clearInterval(sending);
      expect(performance.now() - started).toBeLessThan(5000);
    },
  );

  it('is answered whole for a client that is still sending much of it', async () => {
    const port = await echo();
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`${json}Content-Length: 4000000\r\n\r\n`);
    for (let part = 0; part < 40; part += 1) socket.write('a'.repeat(100_000));
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 .*"statusCode":413.*}$/s);
  });

  it('keeps the connection for the next request where little of it is to come', async () => {
    const port = await echo();
    const small = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n';
    const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const answer = await text(client(port, small + 'a'.repeat(5000) + last));
    expect([...answer.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(['415', '200']);
  });

  it('closes the connection after a success too, whose head says so', async () => {
    const port = await serve((_req, res) => void res.end('fine'));
    const answer = await text(client(port, `${json}Content-Length: 1000000\r\n\r\n{`));
    expect(answer).toMatch(/^HTTP\/1.1 200 .*connection: close.*fine$/is);
  });
});

describe('an idle connection', () => {
  function answer(req: IncomingMessage, res: ServerResponse) {
    req.resume();
    setImmediate(() => res.end('fine'));
  }
  const billed = bareApp([
    requestPipeline(),
    (req, res) => {
      const context = requestContextOf(req);
      context.onCharge(() => res.headersSent);
      context.recheck = async () => void res.headersSent;
      answer(req, res);
    },
  ]) as unknown as RequestListener;

  it.each([
    ['by itself', answer],
    ['in its context', billed],
  ])('holds nothing of the last request on it that was answered %s', async (_how, listener) => {
    let last: WeakRef<IncomingMessage> | undefined;
    const port = await serve((req, res) => {
      last = new WeakRef(req);
      listener(req, res);
    });
    const socket = client(port, `${json}Content-Length: 2\r\n\r\n{}`);
    await once(socket, 'data');
    const isHeld = () => {
      collectGarbage();
      return last?.deref() !== undefined;
    };
    await expect.poll(isHeld).toBe(false);
    expect(socket.destroyed).toBe(false);
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (length: number, rest = json) => `${rest}Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;

  it('is met when the body is read', async () => {
    const socket = client(await echo(), expecting(7));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{"a":1}');
    const [second] = (await once(socket, 'data')) as [Buffer];
    expect(String(second)).toMatch(/^HTTP\/1.1 200 .*{"body":{"a":1}}$/s);
  });

  it.each([
    ['a length beyond the limit', expecting(200_000), 413],
    ['a type that is not read', expecting(10, 'POST / HTTP/1.1\r\nHost: a\r\n'), 415],
  ])('is not met for %s, whose refusal closes the connection', async (_what, bytes, status) => {
    const answer = await text(client(await echo(), bytes));
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'));
    expect(answer).not.toContain('100 Continue');
  });

  it('is met once for a handler that reads the body itself', async () => {
    const port = await serve((req: IncomingMessage, res) => {
      text(req).then((body) => res.end(body));
    });
    const socket = client(port, expecting(2));
    const answers = text(socket);
    await once(socket, 'data');
    socket.end('{}');
    expect((await answers).match(/100 Continue/g)).toHaveLength(1);
    expect(await answers).toMatch(/{}$/);
  });
});
