/**
 * Starts the service once while its image is built, so that its compiled code lies in NODE_COMPILE_CACHE, and so that an
 * image which does not start is never made. Runs as the image's user on the image's own Node: the cache holds for these.
 * Secrets are invented; a setting that has no default is given by ENV in the stage of the Dockerfile that runs this.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { databaseProgram, isPostgresqlOnly, sourcesDirectory } from '../config/layout.ts';
import { inventedSecrets } from './invented-secrets.ts';

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
  const env = { NODE_ENV: 'production', HOST: '127.0.0.1', INTERNAL_HOST: '127.0.0.1', ...process.env, ...settings };
  const main = join(sourcesDirectory, 'main.js');
  const child = spawn(process.execPath, [main, ...command], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  return { child, exit: once(child, 'exit').then(([code]) => code) };
}

/** Asks until the answer is 200, as a probe does. */
async function answered(url: string, child: ChildProcess): Promise<Response> {
  let status: number | undefined;
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline && child.exitCode === null; ) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return response;
    status = response?.status;
    await response?.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const found = child.exitCode === null ? (status ?? 'none') : `exit code ${child.exitCode}`;
  throw new Error(`Expected 200 from ${url} within ${deadlineMs} ms, got ${found}.`);
}

async function expectExit(exit: Promise<unknown>, expected: number, what: string): Promise<void> {
  const code = await exit;
  if (code !== expected) throw new Error(`Expected exit code ${expected} of ${what}, got ${code}.`);
}

interface Described {
  paths: Record<string, { get?: { security?: unknown[] } }>;
}

/** Lists that everybody may read. */
function openLists({ paths }: Described): string[] {
  const isOpen = ([path, { get: list }]: [string, Described['paths'][string]]) =>
    path.endsWith('/paginated') && !path.includes('{') && list !== undefined && (list.security ?? []).length === 0;
  return Object.entries(paths)
    .filter(isOpen)
    .map(([path]) => path);
}

/** Everything that is loaded on demand is demanded. */
async function serve(settings: Record<string, string>): Promise<void> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const { child, exit } = start([], {
    ...settings,
    PORT: port,
    INTERNAL_PORT: internalPort,
    SENTRY_DSN: 'http://key@127.0.0.1:9/1',
    OTEL_EXPORTER_OTLP_ENDPOINT: unreachable,
    ENABLE_OPENAPI: 'true',
    SHUTDOWN_ACCEPT_MS: '0',
    LOG_LEVEL: 'warn',
  });
  const url = `http://127.0.0.1:${port}`;
  await answered(`http://127.0.0.1:${internalPort}/readyz`, child);
  await answered(`${url}/api-docs`, child);
  const description = (await (await answered(`${url}/api-docs.json`, child)).json()) as Described;
  for (const path of openLists(description)) await answered(`${url}${path}`, child);
  await answered(`http://127.0.0.1:${internalPort}/metrics`, child);
  child.kill('SIGTERM');
  await expectExit(exit, 0, 'the service');
}

/** Once on each database of the service. */
async function warm(): Promise<void> {
  const secrets = await inventedSecrets(process.env);
  const hasDatabase = process.env['DATABASE_URL'] !== 'none';
  if (!hasDatabase) await serve(secrets);
  if (hasDatabase && !isPostgresqlOnly()) {
    const database = { DATABASE_URL: `file:${join(tmpdir(), `warm-${process.pid}.db`)}` };
    await expectExit(start(['migrate'], database).exit, 0, 'migrate');
    if (existsSync(databaseProgram('seed'))) {
      await expectExit(start(['seed', '--size', 'small'], database).exit, 0, 'seed');
    }
    await serve({ ...secrets, ...database });
  }
  if (hasDatabase) {
    // The client of the other database is compiled before it finds no server.
    const nowhere = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/nothing', DATABASE_CONNECT_TIMEOUT_MS: '0' };
    const settings = { ...secrets, ...nowhere, INTERNAL_PORT: await freePort(), LOG_LEVEL: 'silent' };
    await expectExit(start([], settings).exit, 1, 'the service without its database server');
  }
}

void warm();
