import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  addHealthCheck,
  createService,
  environment,
  maskInLogs,
  rateLimit,
  unitOfWork,
} from '../../src/chassis/index.ts';
import { connectOrm } from '../../src/chassis/loaders/connect-orm.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { anyProvider } from '../support/empty-database.ts';
import { emptyConfig, emptyServiceVariables } from '../support/empty-service.ts';
import { raised } from '../support/raised.ts';
import { memoryLog } from './http/bare-app.ts';

const modulesDirectory = join(import.meta.dirname, '../fixtures/modules');
const ambient = { name: 'ambient', enabled: true };
const environmentBefore = { ...process.env };

interface Described {
  components: { schemas: Record<string, { properties?: object }> };
}

const logs = { one: memoryLog('info'), two: memoryLog('info') };
const one = await bootTestApp({
  provider: anyProvider,
  env: { AMBIENT_NAME: 'one', AMBIENT_POINTS: '2' },
  configure: (config) => ({ ...config, modules: [ambient, { name: 'plain', enabled: true }] }),
  modulesDirectory,
  logger: logs.one.logger,
});
const two = await bootTestApp({
  provider: 'postgresql',
  env: { AMBIENT_NAME: 'two', AMBIENT_POINTS: '1', ENABLE_CORS: 'false' },
  configure: (config) => ({ ...config, modules: [{ ...ambient, routesPrefix: '/v2' }] }),
  modulesDirectory,
  logger: logs.two.logger,
});

describe('two services of one process, on SQLite and on PostgreSQL', () => {
  it('have each their settings, modules and routes', async () => {
    expect(await one.get('/name').expectData()).toEqual(['one', 'one', 'one']);
    expect(await two.get('/v2/name').expectData()).toEqual(['two', 'two', 'two']);
    expect((await one.get('/greetings')).body).toEqual({ greeting: 'hello' });
    expect((await two.get('/v2/greetings')).status).toBe(404);
    expect((await one.get('/name')).headers).toHaveProperty('access-control-allow-origin');
    expect((await two.get('/v2/name')).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('have each their database', async () => {
    await two.orm.category.deleteMany({ where: { products: { none: {} } } });
    const before = await one.get('/categories').expectData();
    await one.orm.category.create({ data: { name: 'of the first alone' } });
    expect(await one.get('/categories').expectData()).toBe(before + 1);
    expect(await two.get('/v2/categories').expectData()).toBe(await two.count('category'));
    expect(await two.count('category', { name: 'of the first alone' })).toBe(0);
    expect([one.service.database.provider, two.service.database.provider]).toEqual(['sqlite', 'postgresql']);
  });

  it('have each their log and what is masked in it', async () => {
    await one.get('/log').expectData();
    await two.get('/v2/log').expectData();
    const lines = (log: typeof logs.one) => log.lines.filter(({ msg }) => msg === 'a line of the module');
    expect(lines(logs.one)).toMatchObject([{ 'of one': '[redacted]', 'of two': 2 }]);
    expect(lines(logs.two)).toMatchObject([{ 'of one': 1, 'of two': '[redacted]' }]);
    const urls = (log: typeof logs.one) => log.lines.flatMap(({ url }) => (typeof url === 'string' ? [url] : []));
    expect(urls(logs.one).filter((url) => url.startsWith('/v2'))).toEqual([]);
    expect(urls(logs.two).filter((url) => !url.startsWith('/v2'))).toEqual([]);
  });

  it('have each their level of the log', async () => {
    await one.internal.put('/log-level', { level: 'debug' });
    expect((await one.internal.get('/log-level')).body).toEqual({ level: 'debug' });
    expect((await two.internal.get('/log-level')).body).toEqual({ level: 'info' });
  });

  it('have each their metrics', async () => {
    const served = async (app: TestApp) => (await app.internal.get('/metrics')).text.match(/route="[^"]*"/g) ?? [];
    await one.get('/categories').expectData();
    await two.get('/v2/categories').expectData();
    const [first, second] = [new Set(await served(one)), new Set(await served(two))];
    expect([first.has('route="/categories"'), first.has('route="/v2/categories"')]).toEqual([true, false]);
    expect([second.has('route="/categories"'), second.has('route="/v2/categories"')]).toEqual([false, true]);
    const queries = /database_query_duration_seconds_count\{model="Category",operation="count"\} (\d+)/;
    const counted = async (app: TestApp) => Number(queries.exec((await app.internal.get('/metrics')).text)?.[1]);
    const before = await counted(one);
    await two.get('/v2/categories').expectData();
    expect(await counted(one)).toBe(before);
  });

  it('have each their rate limits', async () => {
    const status = async (app: TestApp, path: string) => (await app.get(path)).status;
    expect(await status(two, '/v2/limited')).toBe(200);
    expect(await status(two, '/v2/limited')).toBe(429);
    expect(await status(one, '/limited')).toBe(200);
    expect(await status(one, '/limited')).toBe(200);
    expect(await status(one, '/limited')).toBe(429);
  });

  it('are each the current one in their start, their timers and their health checks', async () => {
    for (const [app, path, name] of [
      [one, '/heard', 'one'],
      [two, '/v2/heard', 'two'],
    ] as const) {
      expect((await app.get('/readyz')).body).toMatchObject({
        status: 'ok',
        checks: { ambient: 'ok', database: 'ok' },
      });
      await expect.poll(() => app.get(path).expectData()).toEqual({ start: name, timer: name, 'health check': name });
    }
  });

  it.each([
    ['its client ends', (socket: Socket) => socket.end()],
    ['its client breaks', (socket: Socket) => socket.resetAndDestroy()],
  ])('are each the current one for listeners of a connection that %s', async (_what, close) => {
    for (const [app, prefix, name] of [
      [one, '', 'one'],
      [two, '/v2', 'two'],
    ] as const) {
      const { hostname, port } = new URL(app.url);
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${prefix}/watched HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, 'data');
      close(socket);
      await expect.poll(() => app.get(`${prefix}/heard`).expectData()).toMatchObject({ closed: name });
      await app.get(`${prefix}/forget`).expectData();
    }
  });

  it('are the current one within run, and outside of both a function of the door says what is missing', async () => {
    const asked = [environment, () => addHealthCheck('x', async () => undefined), () => maskInLogs('x'), connectOrm];
    for (const ask of asked) {
      expect((await raised(async () => ask())).message).toMatch(
        /^Expected a current service, found 2, and no sign of which is meant\. Make one with createService\(config, \{ env \}\)/,
      );
    }
    expect(() => rateLimit({ name: 'x', points: 1, seconds: 1 })).toThrow('Expected a current service');
    await expect(unitOfWork(async () => 1)).rejects.toThrow('Expected a current service');
    expect(one.service.run(environment)).toBe(one.service.settings);
    await two.service.run(async () => {
      await wait(1);
      expect(environment()).toBe(two.service.settings);
      expect(one.service.run(environment)).toBe(one.service.settings);
    });
  });

  it('serve twenty requests each at once without a mix-up', async () => {
    const asked = Array.from({ length: 20 }, () => [one.get('/name').expectData(), two.get('/v2/name').expectData()]);
    const names = new Set((await Promise.all(asked.flat())).map((data) => data.join()));
    expect([...names].toSorted()).toEqual(['one,one,one', 'two,two,two']);
  });

  it.each([
    ['a module that is not there', async () => ({ modules: [{ name: 'absent', enabled: true }] }), {}, /absent/],
    [
      'a database that cannot be reached',
      async () => ({}),
      { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/nothing', DATABASE_CONNECT_TIMEOUT_MS: '1' },
      /No answer from the database/,
    ],
    ['a port that is taken', async () => ({ server: { port: Number(new URL(one.url).port) } }), {}, /another process/],
  ])('stay as they were when a third fails to start: %s', async (_what, config, env, message) => {
    const third = createService(
      { ...emptyConfig, ...(await config()) },
      { env: { ...emptyServiceVariables, ...env }, modulesDirectory },
    );
    await expect(third.start()).rejects.toThrow(message);
    for (const app of [one, two]) expect((await app.internal.get('/readyz')).status).toBe(200);
    expect(await one.get('/name').expectData()).toEqual(['one', 'one', 'one']);
  });

  it('have each their schemas on the API page, also of one name', async () => {
    const start = async (directory: string, env: Record<string, string>) => {
      const options = {
        env: { ...emptyServiceVariables, ...env },
        modulesDirectory: join(modulesDirectory, '../modules-twins', directory),
      };
      const service = createService({ ...emptyConfig, modules: [{ name: 'shelf', enabled: true }] }, options);
      onTestFinished(async () => void (await service.close()));
      const { addresses } = await service.start();
      return `${addresses[0]?.url}/api-docs.json`;
    };
    // In production a document is made when it is asked for: the other service is there by then.
    const first = await start('one', { NODE_ENV: 'production', ENABLE_OPENAPI: 'true' });
    const second = await start('two', {});
    const schemas = async (url: string) => ((await (await fetch(url)).json()) as Described).components.schemas;
    const [own, others] = [await schemas(first), await schemas(second)];
    expect(Object.keys(own.TwinShelf?.properties ?? {})).toEqual(['id', 'width']);
    expect(Object.keys(others.TwinShelf?.properties ?? {})).toEqual(['id', 'size']);
    expect(own).not.toHaveProperty('TwinSize');
  });

  it('end each by itself', async () => {
    const third = createService(emptyConfig, { env: emptyServiceVariables, modulesDirectory });
    const { addresses } = await third.start();
    expect((await fetch(`${addresses[0]?.url}/readyz`)).status).toBe(200);
    await third.close();
    await expect(fetch(`${addresses[0]?.url}/readyz`)).rejects.toThrow();
    for (const app of [one, two]) expect((await app.get('/readyz')).status).toBe(200);
  });

  it('change nothing of the process they run in', () => {
    expect(process.env).toEqual(environmentBefore);
  });
});
