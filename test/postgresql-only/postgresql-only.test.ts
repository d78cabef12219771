import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { repositoryFiles, root } from '../house/repository.ts';
import { onServer } from '../support/empty-database.ts';

const ofSqlite = /sqlite/i;
const schema = `postgresql_only_${process.pid}`;
const env = {
  ...{ PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: '0' },
  ...{ LOG_LEVEL: 'info', NODE_ENV: 'test', DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small' },
};

/** Prints, as its last line, which files the process loaded; Node tells of them by its hooks. */
const tellsLoaded = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
  process.on('exit', () => console.log(JSON.stringify({ loaded })));
`;

/** A copy of the project as somebody has it who said in the models that the service runs on PostgreSQL only. */
function postgresqlOnlyCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'slipway-postgresql-only-'));
  for (const file of repositoryFiles(/./)) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const models = join(copy, 'prisma/models.prisma');
  writeFileSync(models, `datasource db {\n  provider = "postgresql"\n}\n\n${readFileSync(models, 'utf8')}`);
  writeFileSync(join(copy, 'tells-loaded.mjs'), tellsLoaded);
  return copy;
}

describe('a project whose datasource is PostgreSQL', () => {
  let copy: string;
  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: copy, env });

  beforeAll(async () => {
    copy = postgresqlOnlyCopy();
    await run('scripts/generate.ts');
  });

  it('generates nothing of SQLite', () => {
    const generated = globSync('**', { cwd: join(copy, 'src/generated') });
    expect(generated).toContain('postgresql/client.ts');
    expect(generated.filter((file) => ofSqlite.test(file))).toEqual([]);
  });

  it('has no errors of types', async () => {
    await run('node_modules/typescript/bin/tsc', '-p', '.', '--noEmit');
  }, 240_000);

  it('names no file as its database in the refusal of one', async () => {
    const refused = await promisify(execFile)(process.execPath, ['src/main.ts'], {
      cwd: copy,
      env: { ...env, DATABASE_URL: 'file:./data/service.db' },
    }).catch((error: { code: number; stdout: string; stderr: string }) => error);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stdout + refused.stderr).toMatch(/DATABASE_URL.*PostgreSQL/is);
  });

  it('starts, answers a list and a write, and loads and asks for nothing of SQLite', async () => {
    const url = new URL(inject('postgresUrl'));
    url.searchParams.set('schema', schema);
    onTestFinished(async () => void (await onServer(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)));
    const service = spawn(process.execPath, ['--import', './tells-loaded.mjs', 'src/main.ts'], {
      cwd: copy,
      env: { ...env, DATABASE_URL: url.href },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void service.kill('SIGKILL'));
    const output: string[] = [];
    service.stdout.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
    const lines = () =>
      output
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
    await expect
      .poll(() => service.exitCode !== null || lines().some(({ msg }) => msg?.startsWith('ready at')), {
        timeout: 60_000,
      })
      .toBe(true);
    expect(lines().filter(({ level }) => level === 'warn')).toEqual([]);
    const [address] = lines().find(({ msg }) => msg.startsWith('ready at')).urls;
    const list = await fetch(`${address}/api/v1/products/paginated?page=1&pageSize=2`);
    expect([list.status, ((await list.json()) as { data: object[] }).data.length]).toEqual([200, 2]);
    const body = JSON.stringify({
      email: 'somebody@example.com',
      password: 'a long enough password 1',
      name: 'Somebody',
    });
    const headers = { 'content-type': 'application/json' };
    const written = await fetch(`${address}/auth/register`, { method: 'POST', headers, body });
    expect([written.status, await written.text()]).toEqual([201, expect.any(String)]);
    service.kill('SIGTERM');
    await once(service, 'close');
    const { loaded } = lines().at(-1) as { loaded: string[] };
    expect(loaded.length).toBeGreaterThan(200);
    expect(loaded.filter((file) => ofSqlite.test(file) || /libsql/.test(file))).toEqual([]);
  }, 120_000);
});
