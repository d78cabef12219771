import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { createHttpServer, listen } from '../../../src/chassis/lifecycle/listen.ts';
import { memoryLog } from '../http/bare-app.ts';

const refusal = { headers: noAnswerHeaders, logger: memoryLog().logger };
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(
  times: object,
  listener: RequestListener = (_request, response) => void response.end('ok'),
  isProxy = () => false,
) {
  const all = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 65_000 };
  server = createHttpServer(listener, { ...all, ...times }, refusal, { isProxy });
  return listen(server, { host: '127.0.0.1', port: 0 });
}

/** What a client gets that sends just this and waits. */
async function answerTo(port: number, sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(sent);
  return text(socket);
}

describe('createHttpServer', () => {
  it.each([
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['nothing at all', ''],
  ])('answers a client that sends %s with 408 and the one error body', async (_what, sent) => {
    const { port } = await serve({ HTTP_HEADERS_TIMEOUT_MS: 100 });
    const answer = await answerTo(port, sent);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ success: false, statusCode: 408 });
  });

  it('closes the connection of a client whose body does not come in time', async () => {
    const { port } = await serve({ HTTP_HEADERS_TIMEOUT_MS: 100, HTTP_RECEIVE_TIMEOUT_MS: 200 }, (request) => {
      request.resume();
    });
    const answer = await answerTo(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });

  it.each([
    'Connection: keep-alive, Upgrade',
    'Proxy-Connection: upgrade',
    'Connection: keep-alive\r\nProxy-Connection: keep-alive\r\nProxy-Connection: Upgrade',
  ])('takes no body for a request whose head a proxy sent together with a request to upgrade: %j', async (option) => {
    const times = { HTTP_KEEP_ALIVE_TIMEOUT_MS: 100 };
    const listener: RequestListener = (request, response) => response.end(request.url);
    const { port } = await serve(times, listener, () => true);
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n';
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `GET /first HTTP/1.1\r\nHost: x\r\n${option}\r\nUpgrade: h2c\r\n\r\n` +
        `POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: ${hidden.length}\r\n\r\n`,
    );
    const answer = text(socket);
    setTimeout(() => socket.writable && socket.write(hidden), 50);
    expect((await answer).match(/^HTTP.*|\/\w+$|Connection: \w+/gm)).toEqual([
      'HTTP/1.1 200 OK',
      'Connection: close',
      '/first',
    ]);
  });

  it('keeps the connection of a client that asks for HTTP/2 with each request and connects by itself', async () => {
    const { port } = await serve({});
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    for (let count = 0; count < 2; count += 1) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n');
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 200 OK.*Connection: keep-alive.*ok$/s);
    }
    socket.destroy();
  });

  it('makes a request without a body with nothing to read, and one with a body with a stream', async () => {
    const ended: boolean[] = [];
    const { url } = await serve({}, (request, response) => {
      ended.push(request.readableEnded);
      request.resume();
      response.end();
    });
    await fetch(url);
    await fetch(url, { method: 'POST', body: 'x' });
    expect(ended).toEqual([true, false]);
  });

  it('keeps idle connections for longer than a load balancer does, and says so', async () => {
    const { url } = await serve({});
    expect((await fetch(url)).headers.get('keep-alive')).toBe('timeout=65');
  });
});
