import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { gifBlocks, images, jpegSegment, pngChunk, webpChunk } from '../support/images.ts';
import { hostileApp, raw } from './hostile-app.ts';

const { app, port, faults } = await hostileApp();
afterAll(() => expect(faults).toEqual([]));

const outside = join(app.uploads, '..', `outside-${process.pid}.txt`);
writeFileSync(outside, 'a secret');
afterAll(() => rmSync(outside));
writeFileSync(join(app.uploads, '.env'), 'a secret');
writeFileSync(join(app.uploads, 'real.png'), 'a picture');
symlinkSync(outside, join(app.uploads, 'link.png'));
symlinkSync(join(app.uploads, '..'), join(app.uploads, 'parent'));
symlinkSync('/', join(app.uploads, 'root'));
symlinkSync('nowhere', join(app.uploads, 'dangling.png'));
symlinkSync('loop.png', join(app.uploads, 'loop.png'));
symlinkSync('real.png', join(app.uploads, 'alias.png'));
mkdirSync(join(app.uploads, 'directory'));
const name = `outside-${process.pid}.txt`;

/** What a descriptor of this process is open for; undefined where it has been closed. */
function targetOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

describe('/uploads', () => {
  it.each([
    `../${name}`,
    `..%2f${name}`,
    `%2e%2e/${name}`,
    `%2e%2e%2f${name}`,
    `%252e%252e%252f${name}`,
    `..%5c${name}`,
    `..;/${name}`,
    `....//${name}`,
    `%c0%ae%c0%ae/${name}`,
    `directory/../../${name}`,
    `directory%2f..%2f..%2f${name}`,
    `parent/${name}`,
    'link.png',
    'root/etc/passwd',
    'dangling.png',
    'loop.png',
    '.env',
    '%2eenv',
    './.env',
    'directory/../.env',
    'directory',
    'real.png%00.txt',
    'real.png/',
    '/etc/passwd',
    '%2fetc%2fpasswd',
  ])('gives nothing for %s', async (path) => {
    const answer = await raw(port, `GET /uploads/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(answer).not.toMatch(/a secret|root:|a picture/);
  });

  it.skipIf(!existsSync('/proc/self/fd'))('opens one file for a connection that asks for many at once', async () => {
    const path = join(app.uploads, 'large.png');
    writeFileSync(path, Buffer.alloc(20_000_000));
    const socket = connect(port, '127.0.0.1').pause();
    socket.write('GET /uploads/large.png HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20));
    await once(socket, 'readable');
    const opened = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd) === realpathSync(path)).length;
    await expect.poll(opened).toBe(1);
    await wait(100);
    expect(opened()).toBe(1);
    socket.destroy();
    await expect.poll(opened).toBe(0);
  });

  it('gives a file of its own, and a link to one', async () => {
    for (const path of ['real.png', 'alias.png']) {
      expect((await app.get(`/uploads/${path}`)).body.toString()).toBe('a picture');
    }
  });
});

const script = Buffer.from('<html><script>alert(document.domain)</script></html>');
const comment = (text: Buffer) => Buffer.concat([Buffer.from([0x21, 0xfe]), gifBlocks(text)]);

describe('a picture that is a page too', () => {
  it.each([
    ['GIF', 'gif', 'image/gif', images.gif(script, comment(script))],
    ['PNG', 'png', 'image/png', images.png(script, pngChunk('tEXt', script))],
    ['JPEG', 'jpg', 'image/jpeg', images.jpg(script, jpegSegment(0xfe, script))],
    ['WebP', 'webp', 'image/webp', images.webp(script, webpChunk('XMP ', script))],
  ])('as %s is served as a picture that runs nothing', async (_type, extension, mediaType, content) => {
    const { id } = await app.orm.user.findFirstOrThrow();
    const user = await app
      .as('admin')
      .upload(`/api/v1/users/${id}/avatar`, 'avatar', content, 'page.html')
      .expectData();
    expect(user.avatarUrl).toMatch(new RegExp(`\\.${extension}$`));
    const { headers, body } = await app.get(user.avatarUrl);
    // Of a picture, what stands among its pixels is a part.
    expect(body.indexOf(script)).toBe(body.lastIndexOf(script));
    expect(headers).toMatchObject({
      'content-type': mediaType,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });
});
