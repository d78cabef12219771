import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { BaseException } from '../../../src/chassis/errors/exceptions.ts';
import { bodyParser } from '../../../src/chassis/http/bodies/body-parser.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import type { Service } from '../../../src/chassis/service.ts';
import { ComingForms } from '../../../src/chassis/uploads/coming-forms.ts';
import { receiveUpload, uploadedFile } from '../../../src/chassis/uploads/receive-upload.ts';
import { images, pngChunk } from '../../support/images.ts';
import { bareApp } from '../http/bare-app.ts';
import { listening } from '../http/listening.ts';

const png = images.png();
const types: [type: string, extension: string, content: Buffer][] = [
  ['image/png', 'png', png],
  ['image/jpeg', 'jpg', images.jpg()],
  ['image/gif', 'gif', images.gif()],
  ['image/webp', 'webp', images.webp()],
];
const roomy = { perOwner: 1_000_000, total: 10_000_000, minimumFree: 0 };
const answer: RequestHandler = (req, res) => void res.json(uploadedFile(req));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'receive-'));
});
afterEach(() => rm(directory, { recursive: true }));

function appWith(last: RequestHandler = answer, reported: (exception: BaseException) => void = () => undefined) {
  const upload = receiveUpload({ field: 'avatar', maxBytes: 100_000, directory, quota: roomy });
  return bareApp([bodyParser({ limitBytes: 1_000 }), upload, last], { reporters: [{ report: reported }] });
}

function send(content: Buffer, field = 'avatar', name = 'me.png') {
  return request(appWith()).post('/').attach(field, content, name);
}

describe('receiveUpload', () => {
  it.each(types)('stores an %s under a name of its own with the extension .%s', async (type, extension, content) => {
    const { body } = await send(content, 'avatar', '../../evil.html');
    expect(body).toEqual({
      name: expect.stringMatching(new RegExp(`^[\\da-f]{16}-[0-9a-f-]{36}\\.${extension}$`)),
      size: content.length,
      type,
    });
    expect(await readdir(directory)).toEqual([body.name]);
    expect(await readFile(join(directory, body.name))).toEqual(content);
  });

  it('removes what a killed process left half written an hour ago, and nothing else', async () => {
    const [abandoned, recent, other] = [`.${randomUUID()}.part`, `.${randomUUID()}.part`, '.hidden.part'] as const;
    for (const name of [abandoned, recent, other]) await writeFile(join(directory, name), 'half');
    const twoHoursAgo = Date.now() / 1000 - 7200;
    for (const name of [abandoned, other]) await utimes(join(directory, name), twoHoursAgo, twoHoursAgo);
    const { body } = await send(png);
    expect((await readdir(directory)).sort()).toEqual([recent, other, body.name].sort());
  });

  it('stores a file that comes in many pieces whole', async () => {
    const content = images.png(Buffer.alloc(99_000, 'abc'));
    const { body } = await send(content);
    expect(await readFile(join(directory, body.name))).toEqual(content);
  });

  it('stores a picture without what a camera wrote into it', async () => {
    const tagged = images.png(undefined, pngChunk('tEXt', Buffer.from('taken at home')));
    const { body } = await send(tagged);
    expect(body.size).toBe(png.length);
    expect(await readFile(join(directory, body.name))).toEqual(png);
  });

  it('refuses a picture of more pixels than it may have with 413, however few bytes it has, and leaves nothing behind', async () => {
    const huge = images.png();
    huge.writeUInt32BE(60_000, 16);
    huge.writeUInt32BE(60_000, 20);
    const response = await request(appWith()).post('/').attach('avatar', huge, 'huge.png');
    expect(response.status).toBe(413);
    expect(response.body.message).toBe('Expected at most 50000000 pixels in field "avatar", found 60000 x 60000');
    expect(await readdir(directory)).toEqual([]);
  });

  it('refuses a picture that is damaged or a page in disguise with 415, and leaves nothing behind', async () => {
    for (const content of [png.subarray(0, 50), Buffer.from('GIF89a/*<script>alert(1)</script>*/')]) {
      expect((await send(content)).status).toBe(415);
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['HTML', Buffer.from('<html><script>alert(1)</script></html>')],
    ['an empty file', Buffer.alloc(0)],
    ['a file shorter than a signature', Buffer.from('GIF89a')],
  ])('refuses %s with 415 whatever its name says', async (_what, content) => {
    const response = await send(content);
    expect(response.status).toBe(415);
    expect(await readdir(directory)).toEqual([]);
  });

  it('takes only the types that it is told to', async () => {
    const upload = receiveUpload({ field: 'avatar', maxBytes: 1_000, directory, types: ['image/gif'] });
    expect(
      (
        await request(bareApp([upload, answer]))
          .post('/')
          .attach('avatar', png, 'a.png')
      ).status,
    ).toBe(415);
  });

  it('answers a missing file with 400', async () => {
    const app = appWith();
    const responses = [
      await request(app).post('/').field('other', 'x'),
      await request(app).post('/').send({ avatar: 'x' }),
      await request(app).post('/'),
    ];
    for (const { status, body } of responses) {
      expect([status, body.message]).toEqual([400, expect.stringContaining('Expected a file in field "avatar"')]);
    }
  });

  it('answers a file that is too large with 413 and leaves nothing behind', async () => {
    const response = await send(Buffer.concat([png, Buffer.alloc(100_000)]));
    expect([response.status, response.body.message]).toEqual([
      413,
      'The file in field "avatar" is larger than 100000 bytes',
    ]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('takes a file of exactly the largest size', async () => {
    expect((await send(images.png(Buffer.alloc(100_000 - images.png(Buffer.alloc(0)).length)))).status).toBe(200);
  });

  it('refuses files in other fields and second files, and leaves nothing behind', async () => {
    expect((await send(png, 'other')).status).toBe(400);
    const twice = await request(appWith()).post('/').attach('avatar', png, 'a.png').attach('avatar', png, 'b.png');
    expect(twice.status).toBe(400);
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    [
      'no end',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="avatar"; filename="a"\r\n\r\n',
    ],
    ['nothing', 'multipart/form-data; boundary=x', ''],
  ])('answers a form with %s with 400', async (_what, type, body) => {
    const response = await request(appWith()).post('/').set('content-type', type).send(body);
    expect(response.status).toBe(400);
    expect(await readdir(directory)).toEqual([]);
  });

  it('answers a failure of the storage with 400, its cause in details and no path of the server', async () => {
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    const upload = receiveUpload({ field: 'avatar', maxBytes: 1_000, directory: join(file, 'below') });
    const response = await request(bareApp([upload, answer]))
      .post('/')
      .attach('avatar', png, 'a.png');
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      message: 'Failed to upload avatar',
      details: { cause: 'ENOTDIR: not a directory' },
    });
    expect(response.text).not.toContain(directory);
  });

  it('removes the file when the request fails later on', async () => {
    const stored: string[][] = [];
    const app = appWith(async () => {
      stored.push(await readdir(directory));
      throw new Error('the database is gone');
    });
    expect((await request(app).post('/').attach('avatar', png, 'a.png')).status).toBe(500);
    expect(stored[0]).toHaveLength(1);
    await expect.poll(() => readdir(directory)).toEqual([]);
  });

  it('has the slowest of too many that come in at once give way, and leaves nothing of it behind', async () => {
    const service = { forms: new ComingForms(4) } as Service;
    const upload = receiveUpload({ field: 'avatar', maxBytes: 100_000, directory, quota: roomy });
    await using server = await listening(createServer(bareApp([requestPipeline({ service }), upload, answer])));
    const atOnce = 3;
    const begin = (more = 0) => {
      const socket = connect(server.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.write(
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 50000\r\n\r\n' +
          '--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\n',
      );
      socket.write(Buffer.concat([png, Buffer.alloc(more)]));
      return text(socket);
    };
    void begin(40_000);
    await expect.poll(() => readdir(directory)).toHaveLength(1);
    const [fastest] = await readdir(directory);
    const others = Array.from({ length: atOnce }, () => begin());
    expect(await Promise.race(others)).toMatch(/^HTTP\/1.1 503 .*Retry-After: 1/is);
    await expect.poll(() => readdir(directory), { timeout: 5000 }).toHaveLength(atOnce);
    expect(await readdir(directory)).toContain(fastest);
  });

  it('gives the place of one that gave way to others, although its client never ends it', async () => {
    const service = { forms: new ComingForms(4) } as Service;
    const upload = receiveUpload({ field: 'avatar', maxBytes: 100_000, directory, quota: roomy });
    await using server = await listening(createServer(bareApp([requestPipeline({ service }), upload, answer])));
    let refused = 0;
    for (let opened = 1; opened <= 8; opened += 1) {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      onTestFinished(() => void socket.destroy());
      socket.once('data', () => {
        refused += 1;
      });
      socket.write(
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 50000\r\n\r\n',
      );
      await expect.poll(() => refused).toBe(Math.max(0, opened - 3));
    }
    const { status } = await request(`http://127.0.0.1:${server.port}`).post('/').attach('avatar', png, 'a.png');
    expect(status).toBe(200);
  });

  it('leaves nothing behind when the client goes away half-way', async () => {
    const failed = Promise.withResolvers<BaseException>();
    await using server = await listening(createServer(appWith(answer, failed.resolve)));
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 50000\r\n\r\n' +
        '--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\n',
    );
    socket.write(png);
    await expect.poll(() => readdir(directory)).toEqual([expect.stringMatching(/^\..*\.part$/)]);
    socket.destroy();
    await once(socket, 'close');
    expect((await failed.promise).statusCode).toBe(400);
    await expect.poll(() => readdir(directory)).toEqual([]);
  });
});

describe('uploadedFile', () => {
  it('says what is missing on a route without receiveUpload', async () => {
    const { status, body } = await request(bareApp([answer])).post('/a');
    expect([status, body.message]).toEqual([500, expect.stringContaining('add it to the route POST /a')]);
  });
});
