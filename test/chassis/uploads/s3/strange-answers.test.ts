import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FakePeer } from '../../../../src/chassis/testing/fake-peer.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';

const peer = await FakePeer.open();
afterAll(() => peer.close());

const app = await bootTestApp({
  env: {
    DATABASE_URL: 'none',
    UPLOAD_S3_BUCKET: 'files',
    UPLOAD_S3_REGION: 'us-east-1',
    UPLOAD_S3_ENDPOINT: peer.url,
    UPLOAD_S3_PATH_STYLE: 'true',
    UPLOAD_S3_ACCESS_KEY_ID: 'slipway',
    UPLOAD_S3_SECRET_ACCESS_KEY: 'a secret of the tests',
  },
  modulesDirectory: join(import.meta.dirname, '../../../fixtures/modules-files'),
  configure: (config) => ({ ...config, modules: [{ name: 'documents', enabled: true }] }),
});

const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged';
const attach = () => app.send((server) => server.post('/private').attach('file', Buffer.from('a'), 'a.txt'));

/** Sends without end, and counts what was taken. */
function endless(res: ServerResponse, status: number, begin: string): { bytes: number } {
  const sent = { bytes: 0 };
  const piece = 'x'.repeat(65_536);
  res.writeHead(status, { 'Content-Type': 'application/xml' }).write(begin);
  const go = () => {
    let isTaken = true;
    while (isTaken && !res.destroyed) {
      sent.bytes += piece.length;
      isTaken = res.write(piece);
    }
  };
  res.on('drain', go);
  go();
  return sent;
}

it.each([
  ['a file without its length', {}, (res: ServerResponse) => res.writeHead(200).write(forged)],
  ['the whole file for a part of it', { Range: 'bytes=0-3' }, wholeFile],
])(
  'answers 503 where the bucket gives %s, and the connection goes on with the next answer',
  async (_what, headers, give) => {
    peer.becomes((res, { method }) => {
      if (method === 'HEAD') res.writeHead(200, { 'Content-Length': forged.length }).end();
      else {
        give(res);
        res.end();
      }
    });
    for (const path of ['/uploads/a.txt', '/private/a.txt']) {
      const { status, text } = await app.send((server) => server.get(path).set(headers));
      expect([status, text.includes('forged')]).toEqual([503, false]);
    }
  },
);

function wholeFile(res: ServerResponse): void {
  res.writeHead(200, { 'Content-Length': forged.length }).write(forged);
}

it.each([
  [
    'is a page and no list',
    (res: ServerResponse, method = '') => void res.end(method === 'PUT' ? '' : '<html></html>'),
  ],
  ['is empty', (res: ServerResponse) => void res.writeHead(200).end()],
  [
    'is a page once a file is sent',
    (res: ServerResponse, method = '') =>
      void res
        .writeHead(200)
        .end(method === 'GET' ? '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>' : 'ok'),
  ],
])('tells nobody that a file is stored where the 200 of the bucket %s', async (_what, give) => {
  peer.becomes((res, { method }) => give(res, method));
  expect((await attach()).status).toBe(503);
});

it('reads no more than 2 MB of an error or of a list, however long the bucket makes it', async () => {
  const sent: { bytes: number }[] = [];
  peer.becomes((res) => {
    sent.push(endless(res, 404, '<Error><Code>NoSuchKey</Code><Message>'));
  });
  expect((await app.get('/uploads/a.txt')).status).toBe(503);
  peer.becomes((res) => {
    sent.push(endless(res, 200, '<ListBucketResult><Name>'));
  });
  expect((await attach()).status).toBe(503);
  expect(sent.length).toBeGreaterThanOrEqual(2);
  // With what the sockets hold.
  for (const { bytes } of sent) expect(bytes).toBeLessThan(20_000_000);
});

it('ends a list whose pages lead to themselves', async () => {
  const page = '<ListBucketResult><NextContinuationToken>again</NextContinuationToken></ListBucketResult>';
  peer.becomes((res) => void res.writeHead(200, { 'Content-Type': 'application/xml' }).end(page));
  expect((await attach()).status).toBe(503);
  // Of the files of one owner and of all.
  expect(peer.received.length).toBeLessThanOrEqual(4);
});
