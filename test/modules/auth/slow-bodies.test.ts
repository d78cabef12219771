import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newAccount, type Tokens } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const form = Buffer.concat([
  Buffer.from('--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\n'),
  png,
  Buffer.from('\r\n--x--\r\n'),
]);
const json = (body: object) => ({ type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) });
const upload = { type: 'multipart/form-data; boundary=x', bytes: form };

/**
 * A request whose guards have let it in while its body is on its way.
 *
 * @returns what sends the body, and gives the status of the answer
 */
async function letIn({ accessToken }: Tokens, head: string, { type, bytes }: { type: string; bytes: Buffer }) {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  const lines = [`${head} HTTP/1.1`, 'Host: a', 'Connection: close', 'Expect: 100-continue'];
  lines.push(`Authorization: Bearer ${accessToken}`, `Content-Type: ${type}`, `Content-Length: ${bytes.length}`);
  socket.write([...lines, '', ''].join('\r\n'));
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  return async () => {
    socket.write(bytes);
    return Number((await text(socket)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  };
}

describe('a request whose body comes in behind its guards', () => {
  it('is answered as ever while nothing has changed', async () => {
    const { tokens, path } = await newAccount(app);
    const rename = await letIn(tokens, `PUT ${path}`, json({ name: 'Another' }));
    const show = await letIn(tokens, `POST ${path}/avatar`, upload);
    expect([await rename(), await show()]).toEqual([200, 200]);
  });

  it('is answered 401 once its session has ended, and leaves nothing', async () => {
    const { id, tokens, path, as } = await newAccount(app);
    const rename = await letIn(tokens, `PUT ${path}`, json({ name: 'Another' }));
    const show = await letIn(tokens, `POST ${path}/avatar`, upload);
    const files = () => readdirSync(app.uploads).sort();
    const before = files();
    expect((await as('post', '/auth/logout-all')).status).toBe(204);
    expect([await rename(), await show()]).toEqual([401, 401]);
    await expect.poll(files).toEqual(before);
    expect(await app.orm.user.findUniqueOrThrow({ where: { id } })).toMatchObject({ name: 'A user', avatarUrl: null });
  });

  it('is answered by the role of now, also where it reads', async () => {
    const { id, tokens } = await newAccount(app, 'admin');
    const write = await letIn(tokens, 'POST /api/v1/categories', json({ name: 'of a former administrator' }));
    const read = await letIn(tokens, 'GET /api/v1/users/paginated', json({}));
    await app.orm.user.update({ where: { id }, data: { role: 'user' } });
    expect([await write(), await read()]).toEqual([403, 403]);
    expect(await app.orm.category.count({ where: { name: 'of a former administrator' } })).toBe(0);
  });
});
