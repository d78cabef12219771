import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { SentryIngest } from '../../src/chassis/testing/sentry-ingest.ts';
import { killSpawned, type LogLine, SpawnedService, type SpawnOptions } from '../support/spawn-service.ts';

const lines = 20_000;

/** The service of test/fixtures/trouble. */
function spawnTrouble({ env, ...options }: SpawnOptions = {}): SpawnedService {
  const program = ['dist-test/test/fixtures/trouble/main.js', 'trouble'];
  return new SpawnedService({ ...options, program, env: { ENABLE_OPENAPI: 'false', ...env } });
}

async function crashed(service: SpawnedService, kind: string): Promise<LogLine[]> {
  const { url } = await service.ready();
  await fetch(`${url}/crash/${kind}`);
  expect(await service.closed).toEqual({ code: 1, signal: null });
  return service.lines.filter(({ level }) => level === 'error' || level === 'fatal');
}

afterAll(killSpawned);

describe.concurrent('a fault that nobody caught (spec.md: Handling and logging, rule 5)', () => {
  it('is logged, and the process exits with code 1', async () => {
    const [line, ...more] = await crashed(spawnTrouble(), 'exception');
    expect(line).toMatchObject({ level: 'fatal', msg: 'uncaught exception', err: { message: 'nobody caught this' } });
    expect(line).toMatchObject({ err: { stack: expect.stringContaining('trouble.routes.ts') } });
    expect(more).toEqual([]);
  });

  it('reaches the reporters of the service, which may take a moment', async () => {
    const service = spawnTrouble({ env: { TROUBLE_REPORTER: 'true' } });
    await crashed(service, 'exception');
    expect(service.stderr).toContain('reported: nobody caught this, false, undefined\n');
  });

  it('is logged as a rejection and thrown on, with the same end', async () => {
    const request = { requestId: expect.any(String), err: { message: 'nobody awaited this' } };
    expect(await crashed(spawnTrouble(), 'rejection')).toMatchObject([
      { level: 'error', msg: 'unhandled promise rejection', ...request },
      { level: 'fatal', msg: 'uncaught exception', ...request },
    ]);
  });

  it('may be no error at all', async () => {
    const [, line] = await crashed(spawnTrouble(), 'value');
    expect(line).toMatchObject({ err: { message: 'Unhandled rejection: [Object: null prototype] {}' } });
  });

  it('ends the process once, however many follow', async () => {
    const [first] = await crashed(spawnTrouble(), 'storm');
    expect(first).toMatchObject({ level: 'fatal', err: { message: 'nobody caught this' } });
  });

  it('is told on standard error when the logger is broken', async () => {
    const service = spawnTrouble();
    await crashed(service, 'logger');
    expect(service.stderr).toMatch(
      /uncaught exception: Error: nobody caught this(.|\n)*logger failed: Error: the logger is/,
    );
  });

  it('is sent to Sentry before the process exits', async () => {
    await using ingest = await SentryIngest.start();
    await crashed(spawnTrouble({ env: { SENTRY_DSN: ingest.dsn } }), 'rejection');
    expect(ingest.events).toMatchObject([
      {
        level: 'fatal',
        tags: { method: 'GET', request_id: expect.any(String) },
        exception: { values: [{ value: 'nobody awaited this', mechanism: { handled: false } }] },
      },
    ]);
  });

  it('does not keep the process for more than three seconds when Sentry hangs', async () => {
    await using ingest = await SentryIngest.start();
    ingest.answer = 'never';
    const service = spawnTrouble({ env: { SENTRY_DSN: ingest.dsn } });
    const { url } = await service.ready();
    await fetch(`${url}/crash/exception`);
    const began = performance.now();
    expect((await service.closed).code).toBe(1);
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

describe('the log of a process that ends', () => {
  it('is complete in a pipe whose reader takes his time', async () => {
    const service = spawnTrouble();
    const { url } = await service.ready();
    const { stdout } = service.child;
    stdout?.pause();
    await fetch(`${url}/crash/lines`);
    // Full is the pipe now, and the process on its way out: a line at a time is taken, as by a slow collector.
    const slow = setInterval(() => stdout?.resume().once('data', () => stdout.pause()), 20);
    expect((await service.closed).code).toBe(1);
    clearInterval(slow);
    expectAll(service.lines);
  });

  it('does not hold the process when its reader has stopped for good', async () => {
    const service = spawnTrouble();
    const { url } = await service.ready();
    service.child.stdout?.pause();
    const exit = once(service.child, 'exit');
    await fetch(`${url}/crash/lines`);
    expect(await exit).toEqual([1, null]);
  });

  it('is complete in a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'slipway-log-')), 'service.log');
    const env = { PORT: String(await freePort()) };
    const service = spawnTrouble({ env, stdout: openSync(file, 'w') });
    const url = `http://127.0.0.1:${env.PORT}`;
    await expect
      .poll(
        () =>
          fetch(`${url}/livez`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 15_000 },
      )
      .toBe(true);
    await fetch(`${url}/crash/lines`);
    expect((await service.closed).code).toBe(1);
    const written = readFileSync(file, 'utf8').trim().split('\n');
    expectAll(written.map((line) => JSON.parse(line)));
  });
});

/** Each line once, in order, and the last word at the end. */
function expectAll(written: LogLine[]): void {
  const numbers = written.filter(({ msg }) => msg === 'one of many').map(({ i }) => i);
  expect(numbers).toEqual(Array.from({ length: lines }, (_, i) => i));
  expect(written.at(-1)).toMatchObject({ level: 'fatal', msg: 'uncaught exception' });
}
