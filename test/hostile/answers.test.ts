import { afterAll, describe, expect, it } from 'vitest';
import { answerHeaders } from '../../src/chassis/http/answers/answer-headers.ts';
import { hostileApp, raw } from './hostile-app.ts';

const origin = 'https://shop.example';
const { port, internalPort, faults } = await hostileApp({ CORS_ORIGINS: origin });
afterAll(() => expect(faults).toEqual([]));

const constant = answerHeaders({ CORS_ORIGINS: [origin] }, {});
const head = `Host: a\r\nOrigin: ${origin}\r\nConnection: close\r\n`;
const json = 'Content-Type: application/json\r\n';

/** The headers of an answer, names in lower case. */
function headersOf(answer: string): Map<string, string> {
  const [, ...lines] = answer.slice(0, answer.indexOf('\r\n\r\n')).split('\r\n');
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
}

/** Expects the constant headers, each with its value, except those that this kind of answer has a value of its own for. */
function expectConstant(answer: string, list: readonly string[], others: readonly string[] = []): void {
  const headers = headersOf(answer);
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] as string;
    if (others.includes(name)) expect(headers.get(name)).toBeTruthy();
    else expect([name, headers.get(name)]).toEqual([name, list[index + 1]]);
  }
  expect(headers.get('x-request-id')).toMatch(/^[\w.-]+$/);
  expect(headers.get('date')).toMatch(/GMT$/);
}

function expectFailure(answer: string, status: number): void {
  expect(answer.slice(0, 13)).toBe(`HTTP/1.1 ${status} `);
  expect(headersOf(answer).get('content-type')).toBe('application/json; charset=utf-8');
  expect(headersOf(answer).get('cache-control')).toBe('no-store');
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({
    success: false,
    statusCode: status,
  });
}

describe('an answer', () => {
  it.each([
    ['an unknown route', 404, `GET /nothing HTTP/1.1\r\n${head}\r\n`],
    ['an unknown method', 405, `PATCH /api/v1/categories HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`],
    ['a missing login', 401, `POST /api/v1/categories HTTP/1.1\r\n${head}\r\n`],
    ['a malformed path', 400, `GET /%zz HTTP/1.1\r\n${head}\r\n`],
    ['a malformed target', 400, `GET http://[ HTTP/1.1\r\n${head}\r\n`],
    ['no Host', 400, `GET / HTTP/1.1\r\nOrigin: ${origin}\r\nConnection: close\r\n\r\n`],
    ['two Hosts', 400, `GET / HTTP/1.1\r\nHost: b\r\n${head}\r\n`],
    ['an expectation that nobody meets', 417, `GET / HTTP/1.1\r\n${head}Expect: wonders\r\n\r\n`],
    ['a body that is no JSON', 400, `POST /auth/login HTTP/1.1\r\n${head}${json}Content-Length: 2\r\n\r\n{]`],
    [
      'a body that is too large',
      413,
      `POST /auth/login HTTP/1.1\r\n${head}${json}Content-Length: 99999999999\r\n\r\n{}`,
    ],
    ['a body of no type', 415, `POST /auth/login HTTP/1.1\r\n${head}Content-Length: 99999999999\r\n\r\n{}`],
    ['a body that comes too late', 408, `POST /auth/login HTTP/1.1\r\n${head}${json}Content-Length: 9\r\n\r\n{`],
    ['a request for a tunnel', 405, `CONNECT a:443 HTTP/1.1\r\n${head}\r\n`],
    ['an absolute URL of no route', 404, `GET http://a/nothing HTTP/1.1\r\n${head}\r\n`],
    [
      'a chunk of no length',
      400,
      `POST /auth/login HTTP/1.1\r\n${head}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a missing upload', 404, `GET /uploads/nothing.png HTTP/1.1\r\n${head}\r\n`],
  ])('to %s carries what every answer carries, for the origin of the request', async (_what, status, bytes) => {
    const answer = await raw(port, bytes);
    expectFailure(answer, status);
    expectConstant(answer, constant.of(origin).list);
  });

  it.each([
    ['bytes that are no HTTP', 400, 'hello\r\n\r\n'],
    ['a line of HTTP/0.9', 400, 'GET /livez\r\n\r\n'],
    ['the preface of HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method that HTTP does not know', 400, `BREW /livez HTTP/1.1\r\n${head}\r\n`],
    ['a version that does not exist', 400, `GET / HTTP/1.9\r\n${head}\r\n`],
    ['headers that are too large', 431, `GET / HTTP/1.1\r\n${head}X-A: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['headers that come too late', 408, `GET / HTTP/1.1\r\n${head}`],
    ['two different lengths', 400, `GET / HTTP/1.1\r\n${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
  ])('to %s, of which no origin is known, carries what every answer carries', async (_what, status, bytes) => {
    const answer = await raw(port, bytes);
    expectFailure(answer, status);
    expectConstant(answer, constant.of(undefined).list);
  });

  it.each([
    ['of a success', `GET /api/v1/categories HTTP/1.1\r\n${head}\r\n`, []],
    ['of a probe', `GET /livez HTTP/1.1\r\n${head}\r\n`, []],
    ['of the API page', `GET /api-docs HTTP/1.1\r\n${head}\r\n`, ['content-security-policy']],
    ['of a preflight', `OPTIONS / HTTP/1.1\r\n${head}Access-Control-Request-Method: PUT\r\n\r\n`, ['vary']],
  ])('%s carries what every answer carries', async (_what, bytes, others) => {
    const answer = await raw(port, bytes);
    expect(answer).toMatch(/^HTTP\/1.1 20[04] /);
    expectConstant(answer, constant.of(origin).list, others);
  });

  it.each([
    ['a success', 200, `GET /livez HTTP/1.1\r\n${head}\r\n`],
    ['an unknown path', 404, `GET /nothing HTTP/1.1\r\n${head}\r\n`],
    ['bytes that are no HTTP', 400, 'hello\r\n\r\n'],
  ])('of the internal port to %s carries a request id and the security headers', async (_what, status, bytes) => {
    const answer = await raw(internalPort, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(headersOf(answer).get('x-content-type-options')).toBe('nosniff');
    expect(headersOf(answer).get('x-request-id')).toMatch(/^[\w.-]+$/);
    expect(headersOf(answer).get('cache-control')).toBe('no-store');
  });
});
