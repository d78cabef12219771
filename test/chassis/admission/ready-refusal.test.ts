import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ReadyRefusal } from '../../../src/chassis/admission/ready-refusal.ts';
import { tryAgain } from '../../../src/chassis/errors/try-again.ts';
import { AnswerHeaders, noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { createHttpServer } from '../../../src/chassis/lifecycle/listen.ts';
import { memoryLog } from '../http/bare-app.ts';
import { listening, sendRaw } from '../http/listening.ts';

const options = { headers: noAnswerHeaders, logger: memoryLog().logger };
const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 5000 };
const servers: AsyncDisposable[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server[Symbol.asyncDispose]()));
});

/** A server that refuses all but `/held`, which the test answers. */
async function refusing(before: (res: ServerResponse) => void = () => undefined, headers = noAnswerHeaders) {
  const exception = tryAgain('The service is overloaded; try again in a moment');
  const keepAliveMs = times.HTTP_KEEP_ALIVE_TIMEOUT_MS;
  const refusal = new ReadyRefusal(exception, { production: false, keepAliveMs, headers });
  const held: ServerResponse[] = [];
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    before(res);
    if (req.url === '/held') held.push(res);
    else refusal.send(res);
  };
  const server: Server = createHttpServer(answer, times, options);
  const open = await listening(server);
  servers.push(open);
  return { server, held, port: open.port };
}

function request(head: string, fields = 'X-Request-Id: mine\r\n', body = ''): string {
  return `${head} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`;
}

const last = request('GET /', 'X-Request-Id: mine\r\nConnection: close\r\n');

/** Each answer of several, with all that tells the time made the same. */
function answersIn(text: string): string[] {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/Date: .*/g, 'Date: TIME')
    .split(/(?=HTTP\/1\.1 )/);
}

describe('ReadyRefusal', () => {
  it('answers with the status of the exception, its headers, the id of the request and the one error body', async () => {
    const { port } = await refusing();
    expect(answersIn(await sendRaw(port, last))).toEqual([
      [
        ...['HTTP/1.1 503 Service Unavailable', 'x-request-id: mine', 'content-type: application/json; charset=utf-8'],
        ...['cache-control: no-store', 'content-length: 134', 'retry-after: 1', 'Date: TIME', 'Connection: close', ''],
        '{"success":false,"message":"The service is overloaded; try again in a moment","statusCode":503,"timestamp":"TIME"}',
      ].join('\r\n'),
    ]);
  });

  it.each([
    ['POST with a body', request('POST /', 'X-Request-Id: mine\r\nContent-Length: 2\r\n', '{}')],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nX-Request-Id: mine\r\nConnection: keep-alive\r\n\r\n'],
  ])('says the same, byte for byte, in an answer of its own and in one of Node (%s)', async (_name, byNode) => {
    const { port } = await refusing();
    const [own, made] = answersIn(await sendRaw(port, request('GET /') + byNode + last));
    expect(own).toBe(made);
    expect(own).toContain('Keep-Alive: timeout=5\r\n\r\n{');
  });

  it('tells the time of each answer', async () => {
    const { port } = await refusing();
    const told = async () => Date.parse(/"timestamp":"(.*?)"/.exec(await sendRaw(port, last))?.[1] ?? '');
    const [began, first] = [Date.now(), await told()];
    await expect.poll(Date.now).toBeGreaterThan(first);
    const second = await told();
    expect([first >= began, second > first, second <= Date.now()]).toEqual([true, true, true]);
  });

  it('closes the connection where more of a body is to come than is worth reading', async () => {
    const { port } = await refusing();
    const [answer, ...others] = answersIn(
      await sendRaw(port, request('POST /', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n') + request('GET /')),
    );
    expect(answer).toMatch(/^HTTP\/1.1 503 .*connection: close\r\n/s);
    expect(others).toEqual([]);
  });

  it('carries what every answer carries, for the origin of the request', async () => {
    const headers = new AnswerHeaders({ origins: ['https://a.example'], security: true });
    const { port } = await refusing(undefined, headers);
    const origin = 'Origin: https://a.example\r\n';
    for (const answer of answersIn(
      await sendRaw(port, request('GET /', origin) + request('GET /', `${origin}Connection: close\r\n`)),
    )) {
      expect(answer).toContain(headers.of('https://a.example').lines);
    }
  });

  it('answers HEAD without a body', async () => {
    const { port } = await refusing();
    const [head, next] = answersIn(await sendRaw(port, request('HEAD /') + last));
    expect(head).toMatch(/content-length: 134\r\n[^{]*\r\n\r\n$/);
    expect(next).toContain('{"success":false');
  });

  it('makes an id where the request has none that may be taken', async () => {
    const { port } = await refusing();
    const answers = await sendRaw(port, request('GET /', '') + request('GET /', 'X-Request-Id: a b\r\n') + last);
    const ids = [...answers.matchAll(/x-request-id: (.*)\r/g)].map(([, id]) => id);
    expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/), 'mine']);
    expect(new Set(ids).size).toBe(3);
  });

  it('takes its turn behind an answer that is not out yet', async () => {
    const { port, held } = await refusing();
    const answers = sendRaw(port, request('GET /held') + request('GET /') + last);
    await expect.poll(() => held.length).toBe(1);
    held[0]?.end('first');
    expect(answersIn(await answers).map((answer) => answer.slice(9, 12))).toEqual(['200', '503', '503']);
  });

  it('ends the connection where the server is about to close', async () => {
    const { port } = await refusing((res) => res.setHeader('Connection', 'close'));
    expect(answersIn(await sendRaw(port, request('GET /')))[0]).toContain('Connection: close');
  });

  it('leaves the connection as any other answer does: in use, then idle, then closed', async () => {
    const { port, server } = await refusing();
    const socket = connect(port, '127.0.0.1');
    for (let index = 0; index < 50; index += 1) {
      socket.write(request('GET /'));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1.1 503 .*}$/s);
    }
    const closed = once(server, 'close');
    server.close();
    await Promise.all([closed, once(socket, 'close')]);
  });

  it('tells of the end of each response, once', async () => {
    const ends: string[] = [];
    const { port } = await refusing((res) => {
      res.on('finish', () => ends.push('finish')).on('close', () => ends.push('close'));
    });
    await sendRaw(port, request('GET /') + last);
    expect(ends).toEqual(['finish', 'close', 'finish', 'close']);
  });
});
