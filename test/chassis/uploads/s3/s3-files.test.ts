import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { FakePeer } from '../../../../src/chassis/testing/fake-peer.ts';
import { root } from '../../../chart/chart.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { images, pngChunk } from '../../../support/images.ts';
import { recordingLogger } from '../../../support/log-lines.ts';
import { TestS3, withoutS3 } from '../../../support/s3.ts';

const s3 = await TestS3.prepare();
if (!withoutS3) await s3.start();
afterAll(() => s3.remove());

const modulesDirectory = join(import.meta.dirname, '../../../fixtures/modules-files');

/** A service that stores files in the bucket, with a route for each kind. */
function bootFiles(env: Record<string, string> = {}, options = {}) {
  return bootTestApp({
    env: { DATABASE_URL: 'none', ...s3.settings, ...env },
    modulesDirectory,
    configure: (config) => ({ ...config, modules: [{ name: 'documents', enabled: true }] }),
    ...options,
  });
}

type App = Awaited<ReturnType<typeof bootFiles>>;

const post = (app: App, bytes = 10, path = '/private') =>
  app.send((server) => server.post(path).attach('file', Buffer.alloc(bytes, 'a'), { filename: 'a.txt' }));

/** An S3 that begins to give a file, and does not go on. */
function beginFile(res: ServerResponse, { url }: { url: string }): void {
  if (url.includes('list-type')) res.setHeader('Connection', 'close').end('<ListBucketResult></ListBucketResult>');
  else res.writeHead(200, { 'Content-Length': 1_000_000 }).write('x'.repeat(1_000));
}

describe.skipIf(withoutS3)(`files in a bucket${withoutS3}`, () => {
  it('answers 504 within its time while the bucket hangs, everything else as before, and goes on with it', async () => {
    const app = await bootFiles({ UPLOAD_S3_TIMEOUT_MS: '300' });
    const { name } = await post(app).expectData(201);
    s3.freeze();
    try {
      const began = performance.now();
      const answers = await Promise.all([post(app), app.get(`/private/${name}`), app.get(`/uploads/${name}`)]);
      expect(answers.map(({ status }) => status)).toEqual([504, 504, 504]);
      expect(performance.now() - began).toBeLessThan(2_000);
      expect((await app.internal.get('/readyz')).status).toBe(200);
    } finally {
      s3.thaw();
    }
    await expect.poll(async () => (await post(app)).status).toBe(201);
  });

  it('asks a bucket that hangs no more after ten calls: 503 at once, seen in the metrics', async () => {
    const app = await bootFiles({ UPLOAD_S3_TIMEOUT_MS: '300' });
    const { name } = await post(app).expectData(201);
    s3.freeze();
    try {
      await Promise.all(Array.from({ length: 12 }, () => app.get(`/private/${name}`)));
      const began = performance.now();
      const { status, headers } = await app.get(`/private/${name}`);
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect(performance.now() - began).toBeLessThan(200);
    } finally {
      s3.thaw();
    }
    const { text } = await app.internal.get('/metrics');
    expect(text).toContain('http_client_circuit_breaker_state{client="s3"} 2');
    expect(text).toMatch(/http_client_request_duration_seconds_count\{client="s3",method="GET",status="timeout"\} 1\d/);
  });

  it('starts without the bucket, says so, answers 503 until it is there, and keeps nothing of what was refused', async () => {
    await s3.stop();
    const { logger, line } = recordingLogger();
    const app = await bootFiles({}, { logger });
    await line('store of files is not available');
    const before = s3.keys();
    await post(app).expectError(503, 'The store of files is not available');
    await s3.start();
    expect(s3.keys()).toEqual(before);
    await post(app).expectData(201);
  });

  it.each([
    ['another secret', { UPLOAD_S3_SECRET_ACCESS_KEY: 'wrong' }, /files.*SignatureDoesNotMatch/],
    ['no such bucket', { UPLOAD_S3_BUCKET: 'absent' }, /absent.*NoSuchBucket/],
    [
      'a key without its secret',
      { UPLOAD_S3_SECRET_ACCESS_KEY: '' },
      /UPLOAD_S3_SECRET_ACCESS_KEY: expected to be set/,
    ],
  ])('refuses to start with %s', async (_what, env, message) => {
    await expect(bootFiles(env)).rejects.toThrow(message);
  });

  it('keeps the quotas of a user and of all by what the bucket has, whichever replica stored it', async () => {
    const env = { UPLOAD_S3_PREFIX: 'quota/', UPLOAD_USER_BYTES: '150000' };
    const [one, two] = [await bootFiles(env), await bootFiles(env)];
    await post(one, 99_000).expectData(201);
    await post(two, 99_000).expectError(413, /150000 bytes together/);
    const three = await bootFiles({ ...env, UPLOAD_USER_BYTES: '900000', UPLOAD_TOTAL_BYTES: '150000' });
    await post(three, 99_000).expectError(507, /UPLOAD_TOTAL_BYTES/);
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(two, 20_000)));
    expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(2);
  });

  it('stores and gives a file of many megabytes byte for byte', async () => {
    const bytes = 12_000_000;
    const app = await bootFiles({ UPLOAD_USER_BYTES: '200000000' });
    const content = randomBytes(bytes);
    const { name, size } = await app
      .send((server) => server.post('/large').attach('file', content, { filename: 'a.bin' }))
      .expectData(201);
    expect(size).toBe(bytes);
    const whole = await fetch(`${app.url}/private/${name}`);
    expect(whole.headers.get('content-length')).toBe(String(bytes));
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
  });

  it('stops to read a file once its client has left', async () => {
    const endless = await FakePeer.open(beginFile);
    const app = await bootFiles({ UPLOAD_S3_ENDPOINT: endless.url });
    const answer = await fetch(`${app.url}/private/a-b.txt`);
    await answer.body?.cancel();
    await expect.poll(() => endless.connections()).toBe(0);
    await endless.close();
  });

  it('ends an answer whose bytes stop coming, so that nobody takes a part for the whole', async () => {
    const stalled = await FakePeer.open(beginFile);
    const app = await bootFiles({ UPLOAD_S3_ENDPOINT: stalled.url, UPLOAD_S3_TIMEOUT_MS: '300' });
    const answer = await fetch(`${app.url}/private/a-b.txt`);
    await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
    await stalled.close();
  });

  it('gives public files with their type, to be kept by caches, and 304 to those that have them', async () => {
    const app = await bootFiles();
    const { url } = await post(app, 10, '/public').expectData(201);
    const first = await fetch(`${app.url}${url}`);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '10',
      'cache-control': 'public, max-age=86400, immutable',
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const etag = first.headers.get('etag') as string;
    expect((await app.send((server) => server.get(url).set('If-None-Match', etag))).status).toBe(304);
    for (const path of ['/uploads/absent.txt', '/uploads/..%2fprivate%2fa.txt', '/uploads/', '/uploads/%00']) {
      expect((await app.get(path)).status).toBe(404);
    }
    expect((await app.delete(url)).status).toBe(405);
  });

  it('stores the pictures of users without their metadata, and removes those that were replaced', async () => {
    const app = await bootTestApp({ env: { ...s3.settings, UPLOAD_S3_PREFIX: 'users/' } });
    const { id } = await app.orm.user.findFirstOrThrow({ where: { avatarUrl: null } });
    const [path, client] = [`/api/v1/users/${id}`, app.as('admin')];
    const tagged = images.png(undefined, pngChunk('tEXt', Buffer.from('taken at home')));
    const { avatarUrl } = await client.upload(`${path}/avatar`, 'avatar', tagged, 'a.png').expectData();
    const answer = await fetch(`${app.url}${avatarUrl}`);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(images.png());
    await client.upload(`${path}/avatar`, 'avatar', tagged, 'b.png').expectData();
    expect((await app.get(avatarUrl)).status).toBe(404);
    expect(s3.keys().filter((key) => key.startsWith('users/'))).toHaveLength(1);
  });
});

const run = promisify(execFile);

/** Stores and reads a file in a process of its own, and gives what it prints. */
async function inProcess(env: Record<string, string>, ...options: string[]): Promise<string> {
  const code = `
    import { Configuration } from './src/chassis/config/environment.ts';
    import { openFiles } from './src/chassis/uploads/open-files.ts';
    const metrics = { add() {}, remove() {}, called() {}, breaker() {} };
    const { settings } = new Configuration({ NODE_ENV: 'test', ...process.env });
    const { store, check, close } = await openFiles(settings, { logger: { warn: console.error, info() {} }, metrics });
    await check?.();
    console.log(await store.sizeOf('a-b.txt', 'private').catch((error) => error.message));
    await close();
  `;
  const program = [...options, '--input-type=module', '-e', code];
  const { stdout } = await run(process.execPath, program, { cwd: root, env: { PATH: process.env['PATH'], ...env } });
  return stdout.trim();
}

describe.skipIf(withoutS3)(`the credentials of a bucket${withoutS3}`, () => {
  const {
    UPLOAD_S3_ACCESS_KEY_ID: id,
    UPLOAD_S3_SECRET_ACCESS_KEY: secret,
    UPLOAD_S3_REGION: region,
    ...open
  } = s3.settings;

  it('are those of the environment where the settings have none, with its region', async () => {
    const env = { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_REGION: region };
    expect(await inProcess({ ...open, ...env })).toBe('No such file');
  });

  it('are got for the web identity of a pod', async () => {
    const token = join(root, '.cache', `web-identity-${process.pid}`);
    writeFileSync(token, 'token of the pod');
    const sts = await FakePeer.open((res) => {
      const names = `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey>`;
      const credentials = `<Credentials>${names}<SessionToken></SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>`;
      res.setHeader('Content-Type', 'text/xml');
      res.end(
        `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>${credentials}</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      );
    });
    const env = { AWS_REGION: region, AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/shop' };
    const identity = { AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ENDPOINT_URL_STS: sts.url };
    try {
      expect(await inProcess({ ...open, ...env, ...identity })).toBe('No such file');
      expect(sts.received[0]?.body).toContain('WebIdentityToken=token%20of%20the%20pod');
    } finally {
      rmSync(token);
      await sts.close();
    }
  });
});

describe('the package of S3', () => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (!name.startsWith('@aws-sdk/')) return next(name, context);
      throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
    } });`;
  const absent = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];

  it('is not needed where no bucket is set', async () => {
    expect(await inProcess({ LOCAL_UPLOAD_DIR: 'absent' }, ...absent)).toBe('No such file');
  });

  it('is asked for by one sentence where a bucket is set', async () => {
    const failure = await inProcess({ ...s3.settings }, ...absent).catch(({ stderr }) => stderr);
    expect(failure).toContain(
      'UPLOAD_S3_BUCKET is set, and the package @aws-sdk/client-s3 is not installed; run npm install @aws-sdk/client-s3.',
    );
  });
});
