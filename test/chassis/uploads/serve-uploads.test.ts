import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorHandler } from '../../../src/chassis/http/answers/error-handler.ts';
import { serveUploads } from '../../../src/chassis/uploads/serve-uploads.ts';
import { memoryLog } from '../http/bare-app.ts';
import { listening, sendRaw } from '../http/listening.ts';

let root: string;
let app: express.Express;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'uploads-'));
  await mkdir(join(root, 'uploads', 'folder'), { recursive: true });
  await writeFile(join(root, 'secret.txt'), 'secret');
  await writeFile(join(root, 'uploads', 'a.png'), 'image');
  await writeFile(join(root, 'uploads', '.hidden'), 'secret');
  await writeFile(join(root, 'uploads', 'page.html'), '<script>alert(1)</script>');
  app = express();
  app.use('/uploads', serveUploads({ directory: join(root, 'uploads') }));
  app.use(errorHandler({ logger: memoryLog().logger, production: false, reporters: [] }));
});

afterAll(() => rm(root, { recursive: true }));

describe('serveUploads', () => {
  it('serves a file that cannot run anything', async () => {
    const { status, headers, body } = await request(app).get('/uploads/a.png');
    expect([status, body.toString()]).toEqual([200, 'image']);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect((await request(app).get('/uploads/page.html')).headers['content-security-policy']).toContain('sandbox');
  });

  it.each([
    'missing.png',
    '.hidden',
    '',
    'folder',
    'folder/',
    '..%2fsecret.txt',
    '%2e%2e/secret.txt',
    'a.png/',
    '.%00',
  ])('answers /uploads/%s with 404 or 400 in the one body and tells no path', async (name) => {
    const { status, body, text } = await request(app).get(`/uploads/${name}`);
    expect([400, 404]).toContain(status);
    expect(body).toMatchObject({ success: false, statusCode: status });
    expect(text).not.toContain(root);
    expect(text).not.toMatch(/"secret"/);
  });

  it('refuses a path that leaves the directory, as it is on the wire', async () => {
    await using server = await listening(createServer(app));
    for (const path of ['/uploads/../secret.txt', '/uploads/%2e%2e/secret.txt', '/uploads/..%5csecret.txt']) {
      const answer = await sendRaw(server.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    }
  });

  it('looks at no path that is longer than any of a file', async () => {
    await using server = await listening(createServer(app));
    const answer = (dots: string) =>
      sendRaw(server.port, `GET /uploads/${dots}a.png HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await answer('./')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answer('./'.repeat(600))).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('answers malformed percent-encoding with 400', async () => {
    expect((await request(app).get('/uploads/%zz')).status).toBe(400);
  });

  it('answers another method with 405', async () => {
    const response = await request(app).delete('/uploads/a.png');
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('serves ranges, and answers one that is not there with 416', async () => {
    expect((await request(app).get('/uploads/a.png').set('range', 'bytes=0-1')).status).toBe(206);
    const response = await request(app).get('/uploads/a.png').set('range', 'bytes=90-99');
    expect([response.status, response.headers['content-range']]).toEqual([416, 'bytes */5']);
    expect(response.body.success).toBe(false);
  });
});
