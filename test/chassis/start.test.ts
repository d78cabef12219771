import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { AppConfig } from '../../src/chassis/config/app-config.ts';
import { createService, type Service } from '../../src/chassis/service.ts';
import { createLogger } from '../../src/chassis/telemetry/logger.ts';
import { anyProvider, emptyDatabase } from '../support/empty-database.ts';

const modulesDirectory = join(import.meta.dirname, '../fixtures/modules');
const database = await emptyDatabase(anyProvider);
afterAll(database.remove);
let running: Service | undefined;
let url = '';

/** Starts the fixture modules and gives the log lines of the start. */
async function start(config: Partial<AppConfig>): Promise<Record<string, never>[]> {
  const env = { NODE_ENV: 'test', HOST: '127.0.0.1', INTERNAL_PORT: '0', DATABASE_URL: database.settings.DATABASE_URL };
  const lines: Record<string, never>[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(
        ...String(chunk)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
      done();
    },
  });
  running = createService(
    { modules: [{ name: 'plain', enabled: true }], server: { port: 0 }, ...config },
    { env, modulesDirectory, logger: createLogger({ level: 'info', pretty: false, destination }) },
  );
  const { addresses } = await running.start();
  url = addresses[0]?.url ?? '';
  return lines;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

describe('the start of a service', () => {
  it('runs the loaders in the order of spec.md: Start-up order, rules 1 to 5, and logs one line with its time for each', async () => {
    const lines = await start({});
    const loaded = lines.filter((line) => 'loader' in line && String(line.msg).endsWith('done'));
    expect(loaded.map(({ loader }) => loader)).toEqual([
      'connectOrm',
      'loadDI',
      'loadExpressApp',
      'loadRoutes',
      'loadOpenApi',
    ]);
    for (const line of loaded) expect(line.ms).toEqual(expect.any(Number));
  });

  it('ends with one line of routes mounted and left out and of where each setting came from, secrets redacted', async () => {
    const lines = await start({
      modules: [
        { name: 'plain', enabled: true, excludeRoutes: ['farewell'] },
        { name: 'no-di', enabled: false },
      ],
    });
    expect(lines.at(-1)).toMatchObject({
      routes: ['GET /greetings', 'GET /greetings/:id'],
      leftOut: [
        { module: 'plain', file: 'farewell.routes.ts', reason: 'in excludeRoutes' },
        { module: 'no-di', file: '*', reason: 'disabled' },
      ],
      settings: expect.arrayContaining([
        { name: 'HOST', value: '127.0.0.1', from: 'environment' },
        { name: 'LOG_LEVEL', value: 'info', from: 'default' },
      ]),
    });
    expect(JSON.stringify(lines)).not.toContain(database.settings.DATABASE_URL.replace('file:', ''));
  });

  it('starts without the parts of modules that failed, names them in the report, and is not ready', async () => {
    const lines = await start({
      modules: [
        { name: 'broken-di', enabled: true },
        { name: 'broken-routes', enabled: true },
        { name: 'plain', enabled: true },
      ],
    });
    expect(lines.at(-1)).toMatchObject({
      failures: [
        { loader: 'loadDI', module: 'broken-di', file: 'di.ts', error: 'no dependencies today' },
        { loader: 'loadRoutes', module: 'broken-routes', file: 'broken.routes.ts' },
      ],
    });
    expect((await fetch(`${url}/greetings`)).status).toBe(200);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ checks: { 'broken-di/di.ts': 'failed to load' } });
  });

  it('closes what it opened when it fails half-way', async () => {
    await expect(start({ modules: [{ name: 'absent', enabled: true }] })).rejects.toThrow(
      /Expected a directory .*absent/,
    );
    expect(() => running?.database.client).toThrow(/Expected an open database/);
    await start({});
    expect((await fetch(`${url}/greetings`)).status).toBe(200);
  });

  it('switches each step of the HTTP configuration by its flag', async () => {
    await start({ server: { port: 0, enableCors: false, enableSecurityHeaders: false } });
    const response = await fetch(`${url}/greetings`, { headers: { Origin: 'http://a.test' } });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('x-frame-options')).toBeNull();
  });
});
