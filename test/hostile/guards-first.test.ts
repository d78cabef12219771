import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const { port } = new URL(app.url);
const product = { sku: 'guard-1', name: 'Guarded', description: '', price: 1 };

/** A client that sends this and keeps its side open. */
function client(head: string, ...lines: string[]): Socket {
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write([`${head} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n'));
  return socket;
}

const expecting = (length: number) => [
  'Content-Type: application/json',
  `Content-Length: ${length}`,
  'Expect: 100-continue',
];

/** The header with an access token of an account. */
async function authorization(account: 'admin' | 'user'): Promise<string> {
  const body = { email: `${account}@example.com`, password: 'slipway-demo-password' };
  const { accessToken } = await app.post('/auth/login', body).expectData();
  return `Authorization: Bearer ${accessToken}`;
}

describe('a client that waits for 100 Continue', () => {
  it('is answered 401 before it sends anything when it brings no token', async () => {
    const answer = await text(client('POST /api/v1/products', ...expecting(1000)));
    expect(answer).toMatch(/^HTTP\/1.1 401 .*connection: close/is);
    expect(answer).not.toContain('100 Continue');
  });

  it('is answered 403 before it sends anything when its role does not do', async () => {
    const answer = await text(client('POST /api/v1/products', await authorization('user'), ...expecting(1000)));
    expect(answer).toMatch(/^HTTP\/1.1 403 .*connection: close/is);
    expect(answer).not.toContain('100 Continue');
  });

  it.each(['POST /nowhere', 'DELETE /auth/login'])(
    'is told that there is no %s before it sends anything',
    async (head) => {
      const answer = await text(client(head, ...expecting(1000)));
      expect(answer).toMatch(/^HTTP\/1.1 40[45] .*connection: close/is);
      expect(answer).not.toContain('100 Continue');
    },
  );

  it.each([
    ['behind a guard', 'POST /api/v1/products', 'admin', 201],
    ['without one', 'POST /auth/login', undefined, 200],
  ] as const)('sends its body once it is told to: %s', async (_where, head, account, status) => {
    const { id: categoryId } = await app.orm.category.findFirstOrThrow();
    const body = JSON.stringify(
      account ? { ...product, categoryId } : { email: 'user@example.com', password: 'slipway-demo-password' },
    );
    const token = account ? [await authorization(account)] : [];
    const socket = client(head, 'Connection: close', ...token, ...expecting(body.length));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('is answered 400 when what it sends is no JSON', async () => {
    const socket = client('POST /auth/login', 'Connection: close', ...expecting(3));
    await once(socket, 'data');
    socket.write('{a}');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('a body of 50,000 values', () => {
  // It is no JSON, so that who parses it answers 400.
  const values = `[${'1,'.repeat(49_000)}`;

  it.each([
    [401, 'POST', '/api/v1/products', undefined],
    [403, 'POST', '/api/v1/products', 'user'],
    [404, 'POST', '/api/v1/nowhere', undefined],
    [405, 'PATCH', '/auth/login', undefined],
  ] as const)('costs no parsing where it is answered %i', async (status, method, path, account) => {
    const token = account ? [await authorization(account)] : [];
    const head = ['Content-Type: application/json', `Content-Length: ${values.length}`, 'Connection: close', ...token];
    const socket = client(`${method} ${path}`, ...head);
    socket.write(values);
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('leaves the connection open where it is refused, also when its length is not known', async () => {
    const socket = client('POST /api/v1/products', 'Content-Type: application/json', 'Transfer-Encoding: chunked');
    socket.write(`${values.length.toString(16)}\r\n${values}\r\n0\r\n\r\n`);
    socket.write('GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const answers = (await text(socket)).matchAll(/HTTP\/1.1 (\d+)/g);
    expect(Array.from(answers, ([, status]) => status)).toEqual(['401', '404']);
  });
});

describe('an upload that comes in slowly', () => {
  const form = ['Content-Type: multipart/form-data; boundary=x', 'Content-Length: 100000'];
  const part = '--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\n';

  it.each([
    [401, undefined],
    [403, 'user'],
  ] as const)('is answered %i at once, before its file has come', async (status, account) => {
    const { id } = await app.orm.user.findFirstOrThrow({ where: { email: 'admin@example.com' } });
    const token = account ? [await authorization(account)] : [];
    const started = performance.now();
    const socket = client(`POST /api/v1/users/${id}/avatar`, ...token, ...form);
    socket.write(part);
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
