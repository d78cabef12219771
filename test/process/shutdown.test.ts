import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { images } from '../support/images.ts';
import { killSpawned, SpawnedService, type SpawnOptions } from '../support/spawn-service.ts';

const quick = { SHUTDOWN_ACCEPT_MS: '1000', SHUTDOWN_DEADLINE_MS: '10000', ENABLE_OPENAPI: 'false' };

/** The service of test/fixtures/trouble with these modules. */
function spawnTrouble(modules: string[], { env, ...options }: SpawnOptions = {}): SpawnedService {
  const program = ['dist-test/test/fixtures/trouble/main.js', ...modules];
  return new SpawnedService({ ...options, program, env: { ...quick, ...env } });
}

afterAll(killSpawned);

describe.concurrent('SIGTERM', () => {
  it('turns readiness off at once, closes every connection with its answer, and lets requests finish', async () => {
    const service = spawnTrouble(['trouble']);
    const { url, internalUrl } = await service.ready();
    const inFlight = fetch(`${url}/wait/2000`);
    const agent = new Agent({ keepAlive: true });
    const before = await status(`${url}/wait/0`, agent);
    expect(before.headers.connection).toBe('keep-alive');
    service.child.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${internalUrl}/readyz`)).status, { interval: 5 }).toBe(503);
    const probe = await fetch(`${internalUrl}/readyz`);
    expect(await probe.json()).toEqual({ status: 'unavailable', checks: { service: 'shutting down' } });
    expect((await fetch(`${internalUrl}/livez`)).status).toBe(200);
    // Still accepted, on the connection that is there and on a new one.
    for (const during of [await status(`${url}/wait/0`, agent), await status(`${url}/wait/0`, false)]) {
      expect(during).toMatchObject({ statusCode: 200, headers: { connection: 'close' } });
    }
    const answer = await inFlight;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await service.closed).toEqual({ code: 0, signal: null });
    const { finished, cut, ms } = await service.line('shut down in');
    expect({ finished, cut }).toEqual({ finished: 3, cut: 0 });
    expect(ms).toBeGreaterThanOrEqual(1000);
    expect(service.stderr).toBe('');
    agent.destroy();
  });

  it('cuts at the deadline what is not done, leaves nothing behind of an upload, and exits with code 1', async () => {
    const uploads = mkdtempSync(join(tmpdir(), 'slipway-cut-'));
    const service = spawnTrouble(['trouble'], {
      env: { SHUTDOWN_DEADLINE_MS: '600', SHUTDOWN_ACCEPT_MS: '0', LOCAL_UPLOAD_DIR: uploads },
    });
    const { url } = await service.ready();
    const hanging = fetch(`${url}/wait/60000`).catch((error: Error) => error);
    const upload = await halfAnUpload(url);
    await expect.poll(() => readdirSync(uploads), { timeout: 10_000 }).toHaveLength(1);
    const halfSent = connect(Number(new URL(url).port), '127.0.0.1');
    halfSent.write('GET /wait/0 HTTP/1.1\r\nHost: x\r\n');
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    await Promise.all([once(halfSent, 'connect'), once(silent, 'connect')]);
    await fetch(`${url}/wait/0`);
    expect((await service.end()).code).toBe(1);
    expect(await hanging).toBeInstanceOf(Error);
    expect(readdirSync(uploads)).toEqual([]);
    const { cut, finished, level, ms } = await service.line('shut down in');
    expect({ cut, finished, level }).toEqual({ cut: 3, finished: 0, level: 'warn' });
    expect(ms).toBeLessThan(3000);
    for (const socket of [upload, halfSent, silent]) socket.destroy();
  });

  it('does not wait for the deadline because of a connection that never sent a byte', async () => {
    const service = spawnTrouble(['trouble'], { env: { SHUTDOWN_DEADLINE_MS: '20000', SHUTDOWN_ACCEPT_MS: '0' } });
    const { url } = await service.ready();
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    await once(silent, 'connect');
    await fetch(`${url}/wait/0`);
    expect((await service.end()).code).toBe(0);
    expect((await service.line('shut down in')).ms).toBeLessThan(5000);
    silent.destroy();
  });

  it('does not wait for the rest of a body whose request is answered', async () => {
    const service = spawnTrouble(['trouble'], { env: { SHUTDOWN_ACCEPT_MS: '0' } });
    const { url } = await service.ready();
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{');
    await once(socket, 'data');
    service.child.kill('SIGTERM');
    expect(await service.closed).toEqual({ code: 0, signal: null });
    expect(await service.line('shut down in')).toMatchObject({ finished: 0, cut: 0 });
    socket.destroy();
  });

  it('lets an upload that is under way complete', async () => {
    const uploads = mkdtempSync(join(tmpdir(), 'slipway-finished-'));
    const service = spawnTrouble(['trouble'], { env: { LOCAL_UPLOAD_DIR: uploads } });
    const { url } = await service.ready();
    const upload = await halfAnUpload(url);
    await expect.poll(() => readdirSync(uploads), { timeout: 10_000 }).toHaveLength(1);
    service.child.kill('SIGTERM');
    await service.line('shutting down');
    upload.write(Buffer.concat([png.subarray(pngHead.length), Buffer.from(uploadEnd)]));
    const [answer] = (await once(upload, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 201 /);
    expect((await service.closed).code).toBe(0);
    expect(readdirSync(uploads)).toEqual([expect.stringMatching(/^[\w-]+\.png$/)]);
  });

  it('comes with SIGINT too, and a second signal exits at once with its own code', async () => {
    const service = spawnTrouble(['trouble'], { env: { SHUTDOWN_DEADLINE_MS: '60000' } });
    const { url } = await service.ready();
    const hanging = fetch(`${url}/wait/60000`).catch((error: Error) => error);
    await fetch(`${url}/wait/0`);
    service.child.kill('SIGINT');
    await service.line('shutting down');
    service.child.kill('SIGTERM');
    expect(await service.closed).toEqual({ code: 143, signal: null });
    expect(await hanging).toBeInstanceOf(Error);
  });

  it('closes the rest in time when something cannot be closed, and exits with code 1', async () => {
    const service = spawnTrouble(['trouble', 'clinging'], { env: { SHUTDOWN_CLOSER_TIMEOUT_MS: '200' } });
    await service.ready();
    expect((await service.end()).code).toBe(1);
    const { err } = await service.line('shut down in');
    expect(err).toMatchObject({ message: 'Closing loadDI failed: not done within 200 ms' });
  });
});

describe.concurrent('a signal during the start', () => {
  it('closes what is open already and exits with code 0', async () => {
    const service = spawnTrouble(['slow-start']);
    await service.line('connectOrm done');
    expect((await service.end()).code).toBe(0);
    expect(service.lines.at(-1)?.msg).toBe('shut down during the start');
    expect(service.stdout).not.toContain('ready at');
    expect(service.stderr).toBe('');
  });

  it('ends the wait for a database', async () => {
    const env = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/nothing', DATABASE_CONNECT_TIMEOUT_MS: '60000' };
    const service = spawnTrouble(['trouble'], { env });
    await service.line('waiting for the database');
    expect((await service.end('SIGINT')).code).toBe(0);
    expect(service.stdout).not.toContain('fatal');
  });
});

const png = images.png(Buffer.alloc(300));
const pngHead = png.subarray(0, 108);
const uploadEnd = '\r\n--slipway--\r\n';
const uploadHead = '--slipway\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n';
const uploadLength = png.length + uploadEnd.length;

/** Sends the beginning of an image. */
async function halfAnUpload(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    'POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=slipway\r\n' +
      `Content-Length: ${uploadHead.length + uploadLength}\r\n\r\n${uploadHead}`,
  );
  socket.write(pngHead);
  return socket;
}

function status(url: string, agent: Agent | false) {
  return new Promise<{ statusCode: number | undefined; headers: Record<string, unknown> }>((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().on('end', () => resolve({ statusCode: response.statusCode, headers: response.headers }));
    }).on('error', reject);
  });
}
