import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startInternalServer } from '../../../src/chassis/internal/internal-server.ts';
import { createService } from '../../../src/chassis/service.ts';
import { appConfig } from '../../fixtures/service/app.config.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { memoryLog } from '../http/bare-app.ts';

const log = memoryLog('silent');
const app = await bootTestApp({ env: { SOURCE_REVISION: 'abc1234' }, logger: log.logger });
const { internal } = app;

describe('the internal server', () => {
  it('tells that the process lives and that the service is ready', async () => {
    expect((await internal.get('/livez')).body).toEqual({ status: 'ok' });
    const { status, body } = await internal.get('/readyz');
    expect(body).toMatchObject({ status: 'ok', checks: { database: 'ok', migrations: 'ok' } });
    expect(status).toBe(200);
  });

  it('says what runs here, and no setting that could be secret', async () => {
    const { body } = await internal.get('/info');
    expect(body).toEqual({
      name: 'slipway',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      revision: 'abc1234',
      node: process.version,
      environment: 'test',
      started: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      uptimeSeconds: expect.any(Number),
      modules: appConfig({ NODE_ENV: 'test' })
        .modules.filter(({ enabled }) => enabled)
        .map(({ name }) => name),
      database: 'sqlite',
    });
  });

  it.each([
    ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 200],
    [
      'an expectation that nobody knows',
      'GET /livez HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n',
      417,
    ],
    ['a wish for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ])('answers %s as its own, with the id of the request', async (_what, bytes, status) => {
    const socket = connect(Number(new URL(app.internalUrl).port), '127.0.0.1');
    socket.write(bytes);
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/^x-request-id: \S+$/im);
    expect(answer).toMatch(/^x-content-type-options: nosniff$/im);
  });

  it('answers HEAD as GET, without the body', async () => {
    for (const path of ['/livez', '/readyz', '/metrics', '/info', '/log-level']) {
      const { status, text, headers } = await internal.send((server) => server.head(path));
      expect([path, status, text]).toEqual([path, 200, undefined]);
      expect(Number(headers['content-length'])).toBeGreaterThan(10);
    }
  });

  it('answers what it does not know with 404, other methods with 405 and Allow, in the one error body', async () => {
    await internal.get('/').expectError(404, 'No route GET /');
    await internal.get('/api/v1/products').expectError(404, 'No route GET /api/v1/products');
    await internal.get('/__proto__').expectError(404, 'No route GET /__proto__');
    const refused = await internal.post('/livez', {}).expectError(405, '/livez does not take POST, only GET, HEAD');
    expect(refused.headers['allow']).toBe('GET, HEAD');
    const { headers } = await internal.delete('/log-level').expectError(405, /only GET, HEAD, PUT/);
    expect(headers['allow']).toBe('GET, HEAD, PUT');
  });

  it('is not on the public port, which has the two probes alone', async () => {
    expect((await app.get('/livez')).status).toBe(200);
    expect((await app.get('/readyz')).status).toBe(200);
    for (const path of ['/metrics', '/info', '/log-level']) expect((await app.get(path)).status).toBe(404);
  });

  it('ends a connection that is not HTTP with the one error body', async () => {
    const socket = connect(Number(new URL(app.internalUrl).port), '127.0.0.1').setEncoding('utf8');
    socket.write('nonsense\r\n\r\n');
    const [text] = await once(socket, 'data');
    expect(text).toMatch(/^HTTP\/1.1 400 .*"success":false,.*"statusCode":400/s);
  });
});

describe('/log-level', () => {
  it('tells the level and changes it for all lines from then on', async () => {
    await internal.put('/log-level', { level: 'debug' });
    expect((await internal.get('/log-level')).body).toEqual({ level: 'debug' });
    expect(log.logger.level).toBe('debug');
    expect(log.lines.find(({ msg }) => msg === 'log level changed')).toMatchObject({
      level: 'warn',
      from: 'silent',
      to: 'debug',
    });
    expect((await internal.put('/log-level', { level: 'silent' })).body).toEqual({ level: 'silent' });
    expect(log.logger.level).toBe('silent');
  });

  it('refuses a level that does not exist, other fields and what is no JSON object, and changes nothing', async () => {
    const levels = 'expected trace, debug, info, warn, error, fatal or silent';
    const refuse = (body: object | string, message: string, details?: object) =>
      internal.put('/log-level', body).expectError(400, message, details);
    await refuse({ level: 'loud' }, 'Validation Failed', { errors: { level: [levels] } });
    await refuse({}, 'Validation Failed', { errors: { level: [levels] } });
    await refuse({ level: 'info', for: 'ever' }, 'Validation Failed', { errors: { for: ['Unknown field'] } });
    await refuse('level=debug', 'Expected a JSON body such as {"level":"debug"}');
    await internal
      .send((server) => server.put('/log-level'))
      .expectError(400, 'Validation Failed', { errors: { body: ['Expected a JSON object, found no body'] } });
    expect(log.logger.level).toBe('silent');
  });

  it('is changed by nobody who calls from elsewhere', async () => {
    const call = request(`${app.internalUrl}/log-level`, { method: 'PUT', localAddress: '127.0.0.2' });
    call.end('{"level":"debug"}');
    const [response] = await once(call, 'response');
    expect(response.statusCode).toBe(403);
    response.resume();
    expect(log.logger.level).toBe('silent');
  });

  it('refuses a body that is too long while it comes, and does not wait for its end', async () => {
    const endless = request(`${app.internalUrl}/log-level`, { method: 'PUT' });
    endless.write(`{"level":"${'x'.repeat(5000)}`);
    const [response] = await once(endless, 'response');
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
    response.resume();
    await once(response, 'close');
    endless.destroy();
  });
});

const on = (port: number, { logger } = log) =>
  createService(
    { modules: [], server: { port: 0 } },
    { env: { NODE_ENV: 'test', INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: String(port) }, logger },
  );

describe('a pod of the cluster', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  async function serve(lines = log) {
    const service = on(0, lines);
    const { address, close } = await startInternalServer(service);
    onTestFinished(close);
    const open = (localAddress = '127.0.0.3') => {
      const socket = connect({ port: address.port, host: '127.0.0.1', localAddress });
      onTestFinished(() => void socket.destroy());
      return socket.on('error', () => undefined);
    };
    return { service, address, open };
  }

  it('that asks for the metrics thousands of times on one connection has one of them made, and is cut', async () => {
    const { service, open } = await serve();
    let scrapes = 0;
    const { text } = service.metrics;
    service.metrics.text = (accept) => {
      scrapes += 1;
      return Reflect.apply(text, service.metrics, [accept]);
    };
    const socket = open().resume();
    socket.write(get('/metrics').repeat(2000));
    await expect.poll(() => socket.closed).toBe(true);
    expect(scrapes).toBe(1);
  });

  it('that sends a body in chunks of one byte is cut', async () => {
    const { logger, lines } = memoryLog();
    const { open } = await serve({ logger, lines });
    const socket = open().resume();
    socket.write(`GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(20_000)}`);
    await expect.poll(() => socket.closed).toBe(true);
    expect(lines).toMatchObject([{ reason: 'chunks' }]);
  });

  it('that opens connections without end has 64 of them, and keeps no probe waiting', async () => {
    const { address, open } = await serve();
    const sockets = Array.from({ length: 80 }, () => open().resume());
    for (const socket of sockets) socket.write(get('/livez'));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(16);
    expect((await fetch(`${address.url}/livez`)).status).toBe(200);
  });

  it.skipIf(process.platform !== 'linux')('that opens hundreds at once has several accepted in each turn', async () => {
    const { open } = await serve();
    const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = turns();
    const sockets = Array.from({ length: 320 }, (_, index) => open(`127.0.1.${1 + (index % 8)}`));
    for (const socket of sockets) socket.write(get('/livez'));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    expect(turns() - before).toBeLessThan(320 / 4);
  });

  it('together with others that take all connections, keeps no probe waiting', async () => {
    const { address, open } = await serve();
    const sockets = Array.from({ length: 512 }, (_, index) => open(`127.0.1.${1 + (index % 8)}`));
    for (const socket of sockets) socket.write(get('/livez'));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    for (const socket of sockets) socket.resume();
    for (let probes = 0; probes < 3; probes += 1) {
      const answer = await fetch(`${address.url}/livez`, { headers: { connection: 'close' } });
      expect(answer.status).toBe(200);
    }
    await expect.poll(() => sockets.filter(({ closed }) => closed)).toHaveLength(1);
  });
});

describe('startInternalServer', () => {
  it('names INTERNAL_PORT where the port is taken', async () => {
    const first = await startInternalServer(on(0));
    const second = startInternalServer(on(first.address.port));
    await expect(second).rejects.toThrow(/found another process there; stop it or set INTERNAL_PORT and INTERNAL_HOST/);
    await first.close();
  });

  it('closes within a second though clients keep connections open and silent', async () => {
    const { address, close } = await startInternalServer(on(0));
    const silent = connect(address.port, '127.0.0.1').on('error', () => undefined);
    await once(silent, 'connect');
    await (await fetch(`${address.url}/livez`)).text();
    const started = performance.now();
    await close();
    expect(performance.now() - started).toBeLessThan(1000);
    await expect(fetch(`${address.url}/livez`)).rejects.toThrow();
  });
});
