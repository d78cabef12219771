import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootTestApp, type TestApp } from '../../../support/boot-test-app.ts';
import { TestS3, withoutS3 } from '../../../support/s3.ts';

const modulesDirectory = join(import.meta.dirname, '../../../fixtures/modules-files');
const s3 = withoutS3 ? undefined : await TestS3.prepare();
await s3?.start();
afterAll(() => s3?.remove());

interface Store {
  name: string;
  env: Record<string, string>;
  /** What is stored, by its path or key; what comes in too. */
  stored: (uploads: string) => string[];
  privateFolder: string;
  skip?: boolean;
}

const inDirectory = (uploads: string) => readdirSync(uploads, { recursive: true }).map(String);

const stores: Store[] = [
  { name: 'a directory', env: {}, stored: inDirectory, privateFolder: '.private' },
  {
    name: `a bucket${withoutS3}`,
    env: s3?.settings ?? {},
    stored: (uploads) => [...inDirectory(uploads), ...(s3?.keys() ?? [])],
    privateFolder: 'shop/private',
    skip: withoutS3 !== '',
  },
];

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe.each(stores)('a file of any type in $name', ({ env, stored: storedIn, privateFolder, skip }) => {
  if (skip) return it.skip('is stored');
  let app: TestApp;
  beforeAll(async () => {
    app = await bootTestApp({
      env: { DATABASE_URL: 'none', UPLOAD_USER_BYTES: '400000', ...env },
      modulesDirectory,
      configure: (config) => ({ ...config, modules: [{ name: 'documents', enabled: true }] }),
    });
  });
  afterAll(() => app.service.close());

  function upload(path: string, content: Buffer | string, filename: string, contentType: string) {
    return app.send((server) => server.post(path).attach('file', Buffer.from(content), { filename, contentType }));
  }

  const stored = () => storedIn(app.uploads);

  it('is refused and leaves nothing where the session of its client ended while it came in', async () => {
    const files = () => stored().filter((name) => name.includes('-'));
    const before = files();
    await upload('/ending', 'late', 'a.txt', 'text/plain').expectError(401, 'The session has ended');
    await expect.poll(files).toEqual(before);
  });

  it('comes back byte for byte from the route that gives it, as something to be stored and not shown', async () => {
    const content = '<script>alert(1)</script>';
    const file = await upload('/private', content, '../../evil "name".html', 'text/html').expectData(201);
    expect(file).toMatchObject({
      size: content.length,
      type: 'text/html',
      visibility: 'private',
      originalName: 'evil "name".html',
    });
    expect(file.name).toMatch(/^[\da-f]{16}-[\da-f-]{36}\.bin$/);
    const answer = await fetch(`${app.url}/private/${file.name}`);
    expect(await answer.text()).toBe(content);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': expect.stringMatching(/^attachment; filename="evil _name_.html"/),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store, no-transform',
      'accept-ranges': 'bytes',
    });
  });

  it('is given in parts, so that a download goes on where it was cut', async () => {
    const content = Array.from({ length: 600 }, (_, index) => `line ${index}\n`).join('');
    const { name } = await upload('/private', content, 'a.csv', 'text/csv').expectData(201);
    const ask = async (headers: Record<string, string>, method = 'GET') => {
      const answer = await fetch(`${app.url}/private/${name}`, { method, headers });
      return { answer, status: answer.status, text: await answer.text(), range: answer.headers.get('content-range') };
    };
    const { answer, text } = await ask({});
    const etag = answer.headers.get('etag') as string;
    expect(text).toBe(content);
    const rest = {
      status: 206,
      text: content.slice(4000),
      range: `bytes 4000-${content.length - 1}/${content.length}`,
    };
    expect(await ask({ range: 'bytes=4000-' })).toMatchObject(rest);
    expect(await ask({ range: 'bytes=4000-', 'if-range': etag })).toMatchObject(rest);
    expect(await ask({ range: 'bytes=-7' })).toMatchObject({ status: 206, text: content.slice(-7) });
    const whole = { status: 200, text: content, range: null };
    expect(await ask({ range: 'bytes=4000-', 'if-range': '"another"' })).toMatchObject(whole);
    expect(await ask({ range: 'bytes=0-1,5-6' })).toMatchObject(whole);
    expect(await ask({}, 'HEAD')).toMatchObject({ status: 200, text: '' });
    const head = await ask({ range: 'bytes=0-1' }, 'HEAD');
    expect([head.status, head.answer.headers.get('content-length')]).toEqual([200, String(content.length)]);
    const behind = await ask({ range: 'bytes=999999-' });
    expect([behind.status, behind.range]).toEqual([416, `bytes */${content.length}`]);
    expect(JSON.parse(behind.text)).toMatchObject({ success: false, statusCode: 416 });
  });

  it('is given in parts by /uploads too, of the file and not of what a compressor makes of it', async () => {
    const content = 'a,b\n'.repeat(2_000);
    const { url } = await upload('/public', content, 'a.csv', 'text/csv').expectData(201);
    const answer = await fetch(`${app.url}${url}`, { headers: { range: 'bytes=4-4003', 'accept-encoding': 'gzip' } });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([206, null]);
    expect(await answer.text()).toBe(content.slice(4, 4004));
  });

  it.each([
    ['Größe – план.txt', 'Größe – план.txt'],
    ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['\u2066a\u2069\u200F\u061C.txt', 'a.txt'],
    [`${'a'.repeat(254)}\u{1F600}`, `${'a'.repeat(254)}\uFFFD`],
  ])('keeps the name %j as people read it', async (filename, kept) => {
    const { name, originalName } = await upload('/private', 'x', filename, 'text/plain').expectData(201);
    expect(originalName).toBe(kept);
    const { headers } = await fetch(`${app.url}/private/${name}`);
    expect(headers.get('content-disposition')).toContain(`filename*=UTF-8''${encodeURIComponent(kept)}`);
  });

  it('is private unless the route says otherwise: /uploads does not serve it', async () => {
    const { name } = await upload('/private', 'secret', 'a.txt', 'text/plain').expectData(201);
    expect(stored()).toContain(join(privateFolder, name));
    for (const path of [name, `.private/${name}`, `%2eprivate/${name}`, `x/../.private/${name}`]) {
      expect((await fetch(`${app.url}/uploads/${path}`)).status).toBe(404);
    }
  });

  it('is served by /uploads where it is public, to be stored unless it is an image', async () => {
    const text = await upload('/public', 'a,b', 'a.csv', 'text/csv').expectData(201);
    const answer = await fetch(`${app.url}${text.url}`);
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([200, 'attachment']);
    const image = await upload('/public', png, 'a.png', 'image/png').expectData(201);
    const shown = await fetch(`${app.url}${image.url}`);
    expect([shown.headers.get('content-type'), shown.headers.get('content-disposition')]).toEqual(['image/png', null]);
  });

  it.each([
    ['/pdf', 'a', 'a.txt', 'text/plain', 415, /^Expected application\/pdf in field "file", found "text\/plain"/],
    ['/private', '<svg/>', 'a.png', 'image/png', 415, /^Expected image\/png in field "file", found "other content"/],
    ['/private', 'x'.repeat(100_001), 'a.txt', 'text/plain', 413, /larger than 100000 bytes/],
    ['/private', 'x', 'refused.txt', 'text/plain', 400, 'Refused'],
  ])('leaves nothing behind when it is refused: %s %#', async (path, content, name, type, status, message) => {
    const before = stored();
    await upload(path, content, name, type).expectError(status, message);
    await expect.poll(stored).toEqual(before);
  });

  it('is refused when it is missing, and when its owner has no room', async () => {
    await app
      .send((server) => server.post('/private').field('other', 'x'))
      .expectError(400, /Expected a file in field "file"/);
    const sent = Array.from({ length: 6 }, () => upload('/private', 'x'.repeat(99_000), 'a.txt', 'text/plain'));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toContain(413);
    expect(statuses).toContain(201);
  });

  it('is a 404 once it is removed, and by a name that is none', async () => {
    const name =
      stored()
        .find((path) => path.startsWith(`${privateFolder}/`))
        ?.slice(privateFolder.length + 1) ?? '';
    expect((await app.delete(`/private/${name}`)).status).toBe(204);
    expect(stored()).not.toContain(join(privateFolder, name));
    await app.get(`/private/${name}`).expectError(404, 'No such file');
    await app.get('/private/..%2f..%2fetc%2fpasswd').expectError(404, 'No such file');
    await app.get(`/private/${'a'.repeat(252)}.png`).expectError(404, 'No such file');
  });
});
