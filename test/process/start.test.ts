import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

afterAll(killSpawned);

/** Runs a command at a terminal of its own, with util-linux; other systems have another program of the name. */
const script = process.platform === 'linux' ? '/usr/bin/script' : '';

describe('the process', () => {
  it('exits with code 1 and one message that lists every problem of the configuration', async () => {
    const service = new SpawnedService({ env: { PORT: 'x', LOG_LEVEL: 'loud' } });
    expect((await service.closed).code).toBe(1);
    expect(service.lines).toHaveLength(1);
    expect(service.stdout).toMatch(/PORT: expected.*LOG_LEVEL: expected/);
  });

  it('prints the problems as text in development, also where nobody reads at a terminal', async () => {
    const env = { NODE_ENV: 'development', PORT: 'x', LOG_LEVEL: 'loud', SENTRY_DNS: 'https://key@sentry.test/1' };
    const service = new SpawnedService({ env });
    expect((await service.closed).code).toBe(1);
    expect(service.stdout).toBe('');
    expect(service.stderr).toMatch(
      /^The configuration has 2 problems:\n {2}- PORT: expected.*\n {2}- LOG_LEVEL: expected/,
    );
    expect(service.stderr).toContain('\nSENTRY_DNS is not a setting; SENTRY_DSN was probably meant.\n');
    expect(service.stderr).not.toContain('key@');
  });

  it.skipIf(!existsSync(script))('prints the problems as text at a terminal, in production too', async () => {
    const command = `'${process.execPath}' dist-test/main.js`;
    const service = new SpawnedService({
      program: [
        '-e',
        `require('node:child_process').spawnSync('${script}', ['-qec', ${JSON.stringify(command)}, '/dev/null'], { stdio: 'inherit' })`,
      ],
      env: { NODE_ENV: 'production', PORT: 'x', SHELL: '/bin/sh' },
    });
    await service.closed;
    const [first, ...problems] = service.stdout.trim().split(/\r?\n/);
    expect(first).toMatch(/^The configuration has \d problems:$/);
    expect(problems).toContainEqual(expect.stringMatching(/^ {2}- PORT: expected/));
    expect(service.stdout).not.toContain('{');
  });

  it('logs a database that cannot be reached and exits with code 1 (spec.md: Handling, rule 6)', async () => {
    const env = { DATABASE_URL: 'postgresql://nobody:secret@127.0.0.1:1/nothing' };
    const service = new SpawnedService({ env });
    expect((await service.closed).code).toBe(1);
    expect(service.stdout).toContain('database connection failed');
    expect(service.stdout).not.toContain('secret');
  });

  it.each([
    ['json', 'time'],
    ['ecs', '@timestamp'],
    ['gcp', 'severity'],
    ['otel', 'SeverityNumber'],
  ])('writes its log as LOG_FORMAT=%s says, in development too', async (format, field) => {
    const env = {
      NODE_ENV: 'development',
      LOG_FORMAT: format,
      DATABASE_URL: 'postgresql://nobody:x@127.0.0.1:1/nothing',
    };
    const service = new SpawnedService({ env });
    expect((await service.closed).code).toBe(1);
    expect(service.lines.length).toBeGreaterThan(0);
    for (const line of service.lines) expect(line).toHaveProperty([field]);
  });

  it('says which port is taken and what to do', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const service = new SpawnedService({ env: { PORT: String(port) } });
    expect((await service.closed).code).toBe(1);
    expect(service.stdout).toContain(`Expected to listen on 127.0.0.1:${port}, found another process there`);
    taken.close();
  });

  it('migrates, seeds, serves, and ends with code 0 on SIGTERM, in development with readable lines', async () => {
    const service = new SpawnedService({ env: { NODE_ENV: 'development', DATABASE_SEED: 'small' } });
    const url = await service.text(/ready at (http:\/\/\S+)/);
    const { total } = (await (await fetch(`${url}/api/v1/products/paginated`)).json()) as { total: number };
    expect(total).toBe(1000);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await service.end()).code).toBe(0);
    const [started = ''] = /[\s\S]*\boff: .*/.exec(service.stdout) ?? [];
    expect(started.split('\n').length).toBeLessThanOrEqual(16);
    for (const name of ['apiPage: "http://', 'internal: "http://', 'demoAccount: "admin@example.com, slipway-demo']) {
      expect(started).toContain(name);
    }
    expect(started).toMatch(/off: "tracing, Sentry"/);
    expect(started).toMatch(/database: "(sqlite at \/.*\.db|postgresql at [^@]+)"/);
    expect(service.stdout).toMatch(/shut down in \d+ ms: \d+ requests finished, 0 cut/);
    expect(service.stderr).toBe('');
  });

  it('warns of a misspelt variable, migrates, is ready and not ready any more, and ends with code 0 in production', async () => {
    const env = {
      NODE_ENV: 'production',
      ACCESS_SECRET: 'a secret of at least 32 characters',
      CURSOR_SECRET: 'another secret of 32 characters or more',
      SHUTDOWN_ACCEPT_MS: '1500',
      DATABASE_MIGRATE: 'true',
      SENTRY_DNS: 'https://key@sentry.test/1',
    };
    const service = new SpawnedService({ env });
    const { internalUrl } = await service.ready();
    expect((await fetch(`${internalUrl}/readyz`)).status).toBe(200);
    for (const loader of ['connectOrm', 'loadDI', 'loadExpressApp', 'loadRoutes', 'loadOpenApi']) {
      await service.line(`${loader} done`);
    }
    expect(await service.line('unknown variable')).toMatchObject({
      level: 'warn',
      variable: 'SENTRY_DNS',
      meant: 'SENTRY_DSN',
    });
    expect(service.stdout).not.toContain('key@');
    service.child.kill('SIGTERM');
    await service.line('shutting down');
    expect((await fetch(`${internalUrl}/readyz`)).status).toBe(503);
    expect(await service.closed).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe('');
  });
});
