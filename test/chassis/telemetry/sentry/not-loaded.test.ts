import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const recorder = join(import.meta.dirname, 'record-packages.ts');

/** Node with a preload that writes the packages that are loaded to standard error. */
function spawnNode(parameters: string[], env: Record<string, string> = {}): ChildProcess & { loaded: Promise<string> } {
  const child = spawn(process.execPath, ['--import', recorder, ...parameters], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', INTERNAL_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return Object.assign(child, { loaded: text(child.stderr) });
}

/** Where the service listens, once its log says so. */
async function readyAt(service: ChildProcess): Promise<string> {
  for await (const line of createInterface(service.stdout!)) {
    const url = /ready at (\S+?)[",]/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('Expected the service to become ready, and it ended.');
}

it('a service without SENTRY_DSN never loads @sentry/node, nor one without calls and jobs what they need', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-sentry-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const service = spawnNode(['test/fixtures/trouble/main.ts', 'trouble'], {
    DATABASE_URL: `file:${join(directory, 'service.db')}`,
  });
  const url = await readyAt(service);
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  service.kill('SIGTERM');
  await once(service, 'exit');
  expect(await service.loaded).not.toMatch(/@sentry|undici|cockatiel|pg-boss|cron-parser|@nats-io/);
});

it('the file that starts Sentry does load it, so that the preload would tell', async () => {
  const node = spawnNode(['src/chassis/telemetry/sentry/start-sentry.ts']);
  await once(node, 'exit');
  expect(await node.loaded).toContain('loaded @sentry/node');
});

it('the store of jobs on PostgreSQL does load pg-boss', async () => {
  const node = spawnNode(['src/chassis/jobs/pg-boss-store.ts']);
  await once(node, 'exit');
  expect(await node.loaded).toContain('loaded pg-boss');
});
