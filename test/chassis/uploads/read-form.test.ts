import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import { getRequestContext, ordinaryCost } from '../../../src/chassis/context/request-context.ts';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { createHttpServer } from '../../../src/chassis/lifecycle/listen.ts';
import { localFiles } from '../../../src/chassis/uploads/files/local-files.ts';
import { receiveFile } from '../../../src/chassis/uploads/files/receive-file.ts';
import { receiveUpload } from '../../../src/chassis/uploads/receive-upload.ts';
import { images } from '../../support/images.ts';
import { bareApp, memoryLog } from '../http/bare-app.ts';
import { listening, sendRaw } from '../http/listening.ts';

const directory = await mkdtemp(join(tmpdir(), 'form-'));
afterAll(() => rm(directory, { recursive: true }));

const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 65_000 };
const roomy = { perOwner: 1_000_000, total: 10_000_000, minimumFree: 0 };
const upload = receiveUpload({ field: 'avatar', maxBytes: 100_000, directory });
const app = bareApp([upload, (req, res) => void res.json(req.body)]);

/** Sends a picture behind texts of these names. */
function send(...names: string[]) {
  const form = request(app).post('/');
  for (const name of names) form.field(name, 'text');
  return form.attach('avatar', images.png(), 'me.png');
}

describe('a form without end', () => {
  it.each([
    ['before its first part', ''],
    ['in a part without a name', '--x\r\nX: y\r\n\r\n'],
    ['behind its end', '--x\r\nX: y\r\n\r\n\r\n--x--\r\n'],
  ])(
    '%s is answered 413 once more has come than its file and texts may be, and read no further',
    async (_where, head) => {
      await using server = await listening(createServer(app));
      const client = connect(server.port, '127.0.0.1');
      const headers = 'Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked';
      const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
      client.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${head && chunk(head)}`);
      const piece = chunk('\r\n--xA'.repeat(10_922));
      const send = () => {
        while (client.writable && client.write(piece));
      };
      client.on('drain', send).on('error', () => undefined);
      send();
      const [answer] = await once(client, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1.1 413 /);
      expect(client.bytesWritten).toBeLessThan(20_000_000);
      client.destroy();
    },
  );
});

it.each([
  ['receiveUpload', upload],
  ['receiveFile', receiveFile({ files: localFiles(directory, roomy), field: 'avatar', maxBytes: 100_000 })],
])(
  '%s answers a form whose length says that it is too long 413 at once, and asks for nothing of it',
  async (_name, handler) => {
    const long = bareApp([handler, (_req, res) => void res.json({})]);
    await using server = await listening(
      createHttpServer(long, times, { headers: noAnswerHeaders, logger: memoryLog().logger }),
    );
    const headers = 'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 624289\r\nExpect: 100-continue';
    const answer = await sendRaw(server.port, `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toContain('larger than 100000 bytes');
  },
);

describe('the boundary of a form', () => {
  const bodyOf = (boundary: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\n\r\n--${boundary}--\r\n`;
  const post = (boundary: string) =>
    request(app).post('/').set('content-type', `multipart/form-data; boundary=${boundary}`).send(bodyOf(boundary));

  it('is refused with 400 where it is longer than any may be, before the form is read', async () => {
    const { status, body } = await post('a'.repeat(5_000));
    expect([status, body.message]).toEqual([400, 'Expected a Content-Type of at most 256 characters, found 5030']);
  });

  it('has 70 characters', async () => {
    const { status, body } = await post('a'.repeat(70));
    expect([status, body.message]).toEqual([415, expect.stringContaining('Expected')]);
  });
});

describe('what a form is charged with', () => {
  let cost = 0;
  const large = receiveUpload({ field: 'avatar', maxBytes: 2_000_000, directory });
  const charged = bareApp([
    requestPipeline(),
    (_req, res, next) => {
      const context = getRequestContext();
      res.on('finish', () => (cost = context?.cost ?? 0));
      next();
    },
    large,
    (_req, res) => void res.json({}),
  ]);

  it('grows with its small chunks', async () => {
    await using server = await listening(createServer(charged));
    const type = 'Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n';
    const head = `POST / HTTP/1.1\r\nHost: a\r\n${type}\r\n`;
    const chunks = '40\r\n'.concat('a'.repeat(64), '\r\n').repeat(1_000);
    expect(await sendRaw(server.port, `${head}${chunks}7\r\n\r\n--x--\r\n0\r\n\r\n`)).toContain('HTTP/1.1 400 ');
    expect(cost).toBe(40);
  });

  it('grows with its bytes, and is no more than an ordinary request costs where it has two megabytes', async () => {
    const picture = images.png(Buffer.alloc(1_990_000, 7));
    await request(charged).post('/').attach('avatar', picture, 'me.png').expect(200);
    expect(cost).toBe(90);
    expect(cost).toBeLessThan(ordinaryCost);
  });
});

describe('the texts of a form', () => {
  it('make lists and objects by their names', async () => {
    const { body } = await send('title', 'tags[0]', 'tags[1]', 'place[name]', 'more[]');
    expect(body).toEqual({
      ...{ title: 'text', tags: ['text', 'text'] },
      ...{ place: { name: 'text' }, more: ['text'] },
    });
  });

  it.each([
    ['a list of millions, which becomes an object', ['tags[30000000]', 'tags[x]'], 'Field name array index too large'],
    ['a list of more than there are numbers', ['tags[99999999999999999999]'], 'Field name array index too large'],
    ['a list inside of an object', ['a[b][1000]', 'a[b][x]'], 'Field name array index too large'],
    ['objects inside of objects without end', [`a${'[b]'.repeat(2_000)}`], 'Field name nesting too deep'],
  ])('are refused with 400 whose names make %s', async (_what, names, message) => {
    const before = await readdir(directory);
    const { status, body } = await send(...names);
    expect([status, body.message]).toEqual([400, message]);
    expect(await readdir(directory)).toEqual(before);
  });
});
