import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import type { AppConfig } from '../../src/chassis/config/app-config.ts';
import { readEnvironment } from '../../src/chassis/config/environment.ts';
import { useModulesDirectory } from '../../src/chassis/config/layout.ts';
import { orm } from '../../src/chassis/database/client/orm.ts';
import { type Service, startService } from '../../src/chassis/start.ts';
import { createLogger } from '../../src/chassis/telemetry/logger.ts';

useModulesDirectory(join(import.meta.dirname, '../fixtures/modules'));
const databaseFile = join(mkdtempSync(join(tmpdir(), 'slipway-start-')), 'test.db');
let running: Service | undefined;

/** Starts the fixture modules and gives the log lines of the start. */
async function start(config: Partial<AppConfig>): Promise<Record<string, never>[]> {
  readEnvironment(
    {},
    { NODE_ENV: 'test', HOST: '127.0.0.1', INTERNAL_PORT: '0', DATABASE_URL: `file:${databaseFile}` },
  );
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
  running = await startService(
    { modules: [{ name: 'plain', enabled: true }], server: { port: 0 }, ...config },
    { logger: createLogger({ level: 'info', pretty: false, destination }) },
  );
  return lines;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

describe('startService', () => {
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
      settings: { HOST: { value: '127.0.0.1', from: 'environment' }, LOG_LEVEL: { value: 'info', from: 'default' } },
    });
    expect(JSON.stringify(lines)).not.toContain(databaseFile);
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
    const url = running?.addresses[0]?.url ?? '';
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
    expect(() => orm()).toThrow(/Expected an open database/);
    await start({});
    expect(running?.addresses).toHaveLength(1);
  });

  it('switches each step of the HTTP configuration by its flag', async () => {
    await start({ server: { port: 0, enableCors: false, enableSecurityHeaders: false } });
    const response = await fetch(`${running?.addresses[0]?.url}/greetings`, { headers: { Origin: 'http://a.test' } });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('x-frame-options')).toBeNull();
  });
});
