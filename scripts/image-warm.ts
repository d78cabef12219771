/**
 * Starts the service once while its image is built, so that its compiled code lies in NODE_COMPILE_CACHE, and so that an
 * image which does not start is never made. Runs as the image's user on the image's own Node: the cache holds for these.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';

const deadlineMs = 120_000;
const unreachable = 'http://127.0.0.1:9';

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return String(port);
}

function start(command: string[], settings: Record<string, string>) {
  const env = { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', INTERNAL_HOST: '127.0.0.1', ...settings };
  const child = spawn(process.execPath, ['dist/main.js', ...command], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  return { child, exit: once(child, 'exit').then(([code]) => code) };
}

/** Asks until the answer is 200, as a probe does. */
async function answered(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline && child.exitCode === null; ) {
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const found = child.exitCode === null ? `none in ${deadlineMs} ms` : `exit code ${child.exitCode}`;
  throw new Error(`Expected 200 from ${url}, got ${found}.`);
}

async function expectExit(exit: Promise<unknown>, expected: number, what: string): Promise<void> {
  const code = await exit;
  if (code !== expected) throw new Error(`Expected exit code ${expected} of ${what}, got ${code}.`);
}

const database = { DATABASE_URL: `file:${join('/tmp', `warm-${process.pid}.db`)}` };
await expectExit(start(['migrate'], database).exit, 0, 'migrate');
await expectExit(start(['seed', '--size', 'small'], database).exit, 0, 'seed');

const [port, internalPort] = [await freePort(), await freePort()];
const secret = 'only while the image is built, on no network';
// Everything that is loaded on demand is demanded.
const service = start([], {
  ...database,
  AUTH_JWT_SECRET: secret,
  CURSOR_SECRET: secret,
  PORT: port,
  INTERNAL_PORT: internalPort,
  SENTRY_DSN: 'http://key@127.0.0.1:9/1',
  OTEL_EXPORTER_OTLP_ENDPOINT: unreachable,
  SHUTDOWN_ACCEPT_MS: '0',
  LOG_LEVEL: 'warn',
});
await answered(`http://127.0.0.1:${internalPort}/readyz`, service.child);
for (const path of ['/api/v1/products/paginated', '/api-docs', '/api-docs.json']) {
  await answered(`http://127.0.0.1:${port}${path}`, service.child);
}
await answered(`http://127.0.0.1:${internalPort}/metrics`, service.child);
service.child.kill('SIGTERM');
await expectExit(service.exit, 0, 'the service');

// The client of the other database is compiled before it finds no server.
const nowhere = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/nothing', DATABASE_CONNECT_TIMEOUT_MS: '0' };
await expectExit(
  start([], {
    ...nowhere,
    AUTH_JWT_SECRET: secret,
    CURSOR_SECRET: secret,
    INTERNAL_PORT: internalPort,
    LOG_LEVEL: 'silent',
  }).exit,
  1,
  'no database',
);
