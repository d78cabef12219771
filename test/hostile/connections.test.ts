import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { expectTurnedAway, hostileApp, raw, statuses } from './hostile-app.ts';

const { app, port, faults } = await hostileApp();
const head = 'Host: a\r\nConnection: close\r\n';
const json = 'Content-Type: application/json\r\n';

afterAll(() => expect(faults).toEqual([]));

/** A client that goes on sending a byte every few milliseconds, until it is cut off. */
async function trickle(start: string, byte: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => socket.destroy());
  socket.write(start);
  const timer = setInterval(() => socket.write(byte), 20);
  const answer = await text(socket).catch(() => '');
  clearInterval(timer);
  return answer;
}

describe('a slow client', () => {
  it.each([
    ['headers', `GET /api/v1/categories HTTP/1.1\r\n${head}X-Slow: `, 'a'],
    ['a body', `POST /auth/login HTTP/1.1\r\n${head}${json}Content-Length: 50000\r\n\r\n`, ' '],
    ['chunks', `POST /auth/login HTTP/1.1\r\n${head}${json}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  ])('that trickles %s byte by byte is answered 408 and cut off', async (_what, start, byte) => {
    const answer = await trickle(start, byte);
    expectTurnedAway(answer);
    expect(statuses(answer)).toEqual([408]);
  });

  it('that never closes its side is cut off all the same', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    socket.write(`GET /livez HTTP/1.1\r\n${head}X-Slow: `);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await once(socket.resume(), 'end');
    // What is written to a connection that the service has given up comes back as a reset.
    const writing = setInterval(() => socket.write('a'), 50);
    await closed;
    clearInterval(writing);
  });

  it('in great number leaves the service to others', async () => {
    const sockets = Array.from({ length: 300 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(`POST /auth/login HTTP/1.1\r\n${head}${json}Content-Length: 9\r\n\r\n{`);
    expect((await app.get('/api/v1/categories')).status).toBe(200);
    await Promise.all(sockets.map((socket) => socket.closed || once(socket.resume(), 'close')));
  });
});

describe('a half-open connection', () => {
  it('that sends nothing is closed', async () => {
    const socket = connect(port, '127.0.0.1');
    expect(statuses(await text(socket))).toEqual([408]);
  });

  it('whose client ended its side in the middle of a request is closed', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`POST /auth/login HTTP/1.1\r\n${head}${json}Content-Length: 9\r\n\r\n{`);
    expectTurnedAway(await text(socket));
  });

  it('whose client ended its side after the request gets its answer', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`GET /livez HTTP/1.1\r\n${head}\r\n`);
    expect(statuses(await text(socket))).toEqual([200]);
  });
});

describe('headers', () => {
  it('by the ten thousand are answered 431', async () => {
    const answer = await raw(port, `GET /livez HTTP/1.1\r\n${head}${'x:1\r\n'.repeat(10_000)}\r\n`);
    expectTurnedAway(answer);
    expect(statuses(answer)).toEqual([431]);
  });

  it.each([
    [90, 200],
    [100, 431],
    [700, 431],
  ])('of no length, %i of them, are answered %i', async (count, status) => {
    const fields = Array.from({ length: count }, (_, index) => `${index}:\r\n`).join('');
    const answer = await raw(port, `GET /livez HTTP/1.1\r\n${head}${fields}\r\n`);
    expect(statuses(answer)).toEqual([status]);
  });

  it.each([
    ['a bare line feed in a value', 'X-A: a\nX-B: b\r\n'],
    ['a bare carriage return in a value', 'X-A: a\rX-B: b\r\n'],
    ['a NUL byte', 'X-A: a\0b\r\n'],
    ['a folded line', 'X-A: a\r\n b\r\n'],
    ['a space before the colon', 'X-A : a\r\n'],
    ['a name with a space', 'X A: a\r\n'],
  ])('with %s are refused, or are no header of their own', async (_what, line) => {
    const answer = await raw(port, `GET /livez HTTP/1.1\r\n${head}${line}\r\n`);
    expect(statuses(answer)).toHaveLength(1);
    expect(statuses(answer)[0]).toBeOneOf([200, 400]);
    expect(answer).not.toMatch(/^X-[AB]/m);
  });

  it('of an answer hold no line break of the client', async () => {
    const injected = '%0d%0aX-Injected:%20yes';
    const paths = [
      `/api/v1/categories/paginated?pageSize=1&count=none%0d%0aX-Injected:yes`,
      `/api/v1/categories/paginated?pageSize=1&where=${encodeURIComponent('{"name":{"not":"\r\nX-Injected: yes"}}')}`,
      `/uploads/${injected}`,
      `/${injected}`,
    ];
    for (const path of paths) {
      const response = await fetch(app.url + path, { redirect: 'manual', headers: { 'X-Request-Id': 'a%0d%0ab' } });
      expect(response.headers.get('x-injected')).toBeNull();
      expect(response.status).toBeLessThan(500);
    }
  });
});

describe('a URL', () => {
  it.each([20_000, 1_000_000])('of %d characters is answered 431 or cut off', async (length) => {
    const answer = await raw(port, `GET /${'a'.repeat(length)} HTTP/1.1\r\n${head}\r\n`);
    expectTurnedAway(answer);
    expect(statuses(answer).filter((status) => status !== 431)).toEqual([]);
  });

  it.each([
    `/${'a'.repeat(15_000)}`,
    `/${'a/'.repeat(7_000)}`,
    `/api/v1/products?where=${'%7B'.repeat(4_000)}`,
    '/api/v1/products/%00',
    '/%c0%ae%c0%ae/etc/passwd',
    '/%ff',
    '/api/v1/products?where=%ff%fe',
    'http://[',
    '*',
    '//',
    '/\\..\\',
  ])('as hostile as %s is answered with a 4xx', async (target) => {
    const answer = await raw(port, `GET ${target} HTTP/1.1\r\n${head}\r\n`);
    expectTurnedAway(answer);
    expect(statuses(answer)).toHaveLength(1);
  });
});

/** A request that a confused server would take for a second one. */
const smuggled = `GET /livez HTTP/1.1\r\n${head}X-Smuggled: 1\r\n\r\n`;

describe('a smuggled request', () => {
  const post = `POST /auth/login HTTP/1.1\r\nHost: a\r\n${json}`;
  it.each([
    ['Transfer-Encoding and Content-Length', `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two different lengths', `${post}Content-Length: 0\r\nContent-Length: 60\r\n\r\n`],
    ['two equal lengths', `${post}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ['a list of lengths', `${post}Content-Length: 0, 60\r\n\r\n`],
    ['a signed length', `${post}Content-Length: +0\r\n\r\n`],
    ['a negative length', `${post}Content-Length: -1\r\n\r\n`],
    ['a length in hexadecimal', `${post}Content-Length: 0x0\r\n\r\n`],
    ['a space before the colon', `${post}Content-Length : 0\r\n\r\n`],
    ['an unknown coding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['chunked that is not last', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['two codings', `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`],
    ['a vertical tab before the coding', `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
    ['a chunk of no size', `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ['a chunk longer than its size', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    ['a chunk ended by a bare line feed', `${post}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n`],
    ['a chunk size beyond 64 bits', `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n`],
    [
      'a chunk extension of 100,000 characters',
      `${post}Transfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(1e5)}\r\n{}\r\n`,
    ],
    ['no Host', 'GET /livez HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /livez HTTP/1.1\r\nHost: a\r\nHOST: b\r\n\r\n'],
    ['a version that does not exist', 'GET /livez HTTP/1.9\r\nHost: a\r\n\r\n'],
  ])('behind %s is not answered', async (_what, bytes) => {
    const answer = await raw(port, bytes + smuggled);
    const [first, ...others] = statuses(answer);
    if (first !== undefined) expect(first).toBeOneOf([400, 404, 413]);
    // A request that was understood in full may be followed by another; one that was not must be the last.
    if (first === 400 || first === 413) expect(others).toEqual([]);
  });
});
