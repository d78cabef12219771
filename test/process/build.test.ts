import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { anyProvider, emptyDatabase } from '../support/empty-database.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const program = ['dist-test/main.js'];
const database = await emptyDatabase(anyProvider);
const production = {
  NODE_ENV: 'production',
  LOG_LEVEL: 'info',
  SHUTDOWN_ACCEPT_MS: '0',
  DATABASE_URL: database.settings.DATABASE_URL,
  ACCESS_SECRET: 'a secret of the tests, 32 letters or more',
  CURSOR_SECRET: 'another secret of the tests, 32 letters or more',
};

interface Described {
  paths: Record<string, Record<string, { summary: string }>>;
}

/** How many scripts of the build were loaded by a service with this cache. */
function scriptsIn(cache: string): number {
  return readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((file) => /\.c?js$/.test(file)).length;
}

afterAll(async () => {
  await killSpawned();
  await database.remove();
});

describe('the build', () => {
  it('refuses to start in production without a database and secrets of its own', async () => {
    const service = new SpawnedService({ program, env: { NODE_ENV: 'production', DATABASE_URL: '' } });
    expect((await service.closed).code).toBe(1);
    expect(service.stdout + service.stderr).toMatch(
      /DATABASE_URL: expected.*CURSOR_SECRET: expected.*ACCESS_SECRET: expected/s,
    );
  });

  it('names the sources in the stack of an error, and packages by a path that is not its own', async () => {
    const env = {
      ...production,
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/nothing',
      DATABASE_CONNECT_TIMEOUT_MS: '0',
    };
    const service = new SpawnedService({ program, env });
    expect((await service.closed).code).toBe(1);
    expect(service.stdout).toMatch(/at async connectOrm \(\S+\/src\/chassis\/loaders\/connect-orm\.ts:\d+/);
    expect(service.stdout).not.toMatch(/dist-test\/(?!node_modules|main\.js)/);
    expect(service.stdout).toMatch(/PrismaPgAdapter\.onError \(\S+\/dist-test\/node_modules\/\S+\.cjs:\d+/);
  });

  it('says which package it lacks where settings ask for one that is not installed', async () => {
    const alone = mkdtempSync(join(tmpdir(), 'slipway-alone-'));
    onTestFinished(() => rmSync(alone, { recursive: true }));
    cpSync('dist-test', join(alone, 'dist'), { recursive: true });
    cpSync('package.json', join(alone, 'package.json'));
    const fixture = [join(alone, 'dist/test/fixtures/trouble/main.js'), 'trouble'];
    const service = new SpawnedService({
      program: fixture,
      env: { ...production, DATABASE_URL: 'none', UPLOAD_S3_BUCKET: 'files' },
    });
    expect((await service.closed).code).toBe(1);
    expect(service.stdout + service.stderr).toContain('run npm install @aws-sdk/client-s3');
  });

  it('takes one byte for each letter of its scripts, also in the memory of V8', () => {
    const scripts = globSync('dist-test/**/*.{js,cjs}');
    expect(scripts.length).toBeGreaterThan(50);
    const wide = scripts.filter((file) => /[^\0-\u00ff]/.test(readFileSync(file, 'utf8')));
    expect(wide).toEqual([]);
  });

  it('keeps the comments of a route file wherever they stand', async () => {
    const fixture = ['dist-test/test/fixtures/trouble/main.js', 'trouble'];
    const service = new SpawnedService({ program: fixture, env: { ...production, DATABASE_URL: 'none' } });
    const { paths } = (await (await fetch(`${(await service.ready()).url}/api-docs.json`)).json()) as Described;
    expect(paths['/wait/{ms}']?.['get']?.summary).toBe('Wait');
    await service.end();
  });

  it("has Express's own parsers of bodies and nested queries, which no start loads", async () => {
    const fixture = ['dist-test/test/fixtures/trouble/main.js', 'trouble'];
    const service = new SpawnedService({ program: fixture, env: { ...production, DATABASE_URL: 'none' } });
    const { url } = await service.ready();
    const headers = { 'content-type': 'multipart/mixed' };
    const answer = await fetch(`${url}/parsed`, { method: 'POST', headers, body: 'in parts' });
    expect(await answer.json()).toMatchObject({ data: { text: 'in parts', query: { a: { b: '1' } } } });
    await service.end();
  });

  it('has the table of media types, which no start loads', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'slipway-compiled-'));
    onTestFinished(() => rmSync(cache, { recursive: true }));
    const fixture = ['dist-test/test/fixtures/trouble/main.js', 'trouble'];
    const env = { ...production, DATABASE_URL: 'none', NODE_COMPILE_CACHE: cache };
    const filesOf = async (...extensions: string[]) => {
      const service = new SpawnedService({ program: fixture, env });
      const { url } = await service.ready();
      for (const extension of extensions) {
        const { headers } = await fetch(`${url}/typed/${extension}`, { headers: { 'accept-encoding': 'gzip' } });
        answers.push([headers.get('content-type'), headers.get('content-encoding')]);
      }
      await service.end();
      return scriptsIn(cache);
    };
    const answers: unknown[] = [];
    const before = await filesOf();
    expect((await filesOf('webp', 'wasm', 'csv')) - before).toBeGreaterThanOrEqual(2);
    expect(answers).toEqual([
      ['image/webp', null],
      ['application/wasm', 'gzip'],
      ['text/csv; charset=utf-8', 'gzip'],
    ]);
  });

  it('migrates and seeds by its commands, then serves the modules and the API page', async () => {
    for (const command of [['migrate'], ['seed', '--size', 'small']]) {
      const run = new SpawnedService({ program: [...program, ...command], env: production });
      expect(await run.closed, run.stdout + run.stderr).toEqual({ code: 0, signal: null });
    }
    const service = new SpawnedService({ program, env: production });
    const { url } = await service.ready();
    const page = await fetch(`${url}/api/v1/products/paginated?include={"category":true}`);
    expect(await page.json()).toMatchObject({ success: true, total: 1000, data: { length: 10 } });
    const { paths } = (await (await fetch(`${url}/api-docs.json`)).json()) as { paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/auth/login', '/api/v1/products/paginated']));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await service.end()).toEqual({ code: 0, signal: null });
  }, 60_000);

  // Each file takes a third of a millisecond to find and open. Of modules a start loads each file, of the rest a dozen.
  it('loads few files, until something is asked for that needs more', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'slipway-compiled-'));
    onTestFinished(() => rmSync(cache, { recursive: true }));
    const service = new SpawnedService({ program, env: { ...production, NODE_COMPILE_CACHE: cache } });
    await service.ready();
    await service.end();
    expect(scriptsIn(cache)).toBeLessThan(60);
    expect(scriptsIn(cache)).toBeGreaterThan(10);
  });
});
