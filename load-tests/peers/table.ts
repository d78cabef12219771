/**
 * Slipway beside Fastify, Express and NestJS on the same rows of one PostgreSQL, all with the same telemetry: `npm ci && npm
 * run table` in this folder, on Linux with at least two cores, of which the servers have one, and database and clients the
 * other. Peers take turns within a round, so that a change of the machine's speed meets all of them. Every figure is a median
 * over the rounds, every ratio the median of the ratios to Fastify within a round. With `--gate` the exit code is 1 where
 * Slipway has fallen behind a ratio of gate.ts; times are never compared with a limit. With `--database sqlite` all have the rows
 * in one SQLite file.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buildService } from '../../src/chassis/cli/build/build-service.ts';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { behind, goals, leastSeconds, type Ratios } from './gate.ts';
import { type LoadResult, load } from './load.ts';
import { type Peer, type RunningPeer, startPeer } from './peer.ts';
import { type Kind, kindsOf } from './shop-work.ts';
import { median, startCollector } from './surroundings.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    peers: { type: 'string', default: 'Slipway,Fastify,Express,NestJS' },
    kinds: { type: 'string', default: '' },
    database: { type: 'string', default: 'postgresql' },
    gate: { type: 'boolean', default: false },
  },
});
if (values.gate && Number(values.seconds) < leastSeconds)
  throw new Error(`Expected windows of at least ${leastSeconds} seconds with --gate, got --seconds ${values.seconds}.`);
if (!['postgresql', 'sqlite'].includes(values.database))
  throw new Error(`Expected --database postgresql or sqlite, got ${values.database}.`);
const firstPage = '/api/v1/products/paginated?pageSize=1';
const names = values.peers.split(',');
if (values.gate && !['Slipway', 'Fastify'].every((name) => names.includes(name)))
  throw new Error(`Expected Slipway and Fastify among the peers with --gate, got --peers ${values.peers}.`);
const logs = mkdtempSync(join(tmpdir(), 'slipway-peers-'));

/** What one window shows of one peer. */
interface Window {
  rate: number;
  cpu: number;
  slowestMs: number;
  failed: number;
}

/** All that the service has is on; the limits are counted and high enough for one client that is as busy as this. */
const service = {
  ...{ AUTH_JWT_SECRET: 'of a benchmark, where nothing is worth a secret', HOST: '127.0.0.1', INTERNAL_PORT: '0' },
  ...{ CURSOR_SECRET: 'of a benchmark, where nothing is worth a secret', RATE_LIMIT_REQUESTS: '1000000000' },
  ...{ SHUTDOWN_ACCEPT_MS: '0' },
};

await buildService({ outDir: join(import.meta.dirname, '../../dist-peers') });
const postgres =
  values.database === 'sqlite' ? undefined : await startPostgres(resolve(import.meta.dirname, '../../node_modules'));
const collector = await startCollector();
const problems: string[] = [];
try {
  const databaseUrl = (await postgres?.createDatabase('peers')) ?? `file:${join(logs, 'shop.db')}`;
  const peers = peersOn(databaseUrl).filter(({ name }) => names.includes(name));
  await prepare(databaseUrl);
  const kinds = (await kindsOf(databaseUrl)).filter(({ name }) => name.startsWith(values.kinds));
  const starts = await measureStarts(peers);
  const { ratios, memory } = await measureLoads(peers, kinds);
  printEnds(starts, memory);
  if (collector.received() === 0) throw new Error('No traces were exported.');
  if (values.gate) problems.push(...behind(ratios));
} finally {
  collector.stop();
  await postgres?.stop();
}
for (const problem of problems) console.error(problem);
// What stops PostgreSQL with this process would let it end with 0.
if (problems.length > 0) process.exit(1);

function peersOn(databaseUrl: string): Peer[] {
  const env = { DATABASE_URL: databaseUrl, ...collector.env };
  const peer = (name: string, entry: string): Peer => ({
    ...{ name, entry: `entries/${entry}`, env, readyAt: '/', preload: 'entries/telemetry.js' },
  });
  return [
    { name: 'Slipway', entry: '../../dist-peers/main.js', env: { ...env, ...service }, readyAt: '/' },
    peer('Fastify', 'fastify-shop.js'),
    peer('Express', 'express-full.js'),
    peer('NestJS', 'nest-shop.js'),
  ];
}

/** The tables, and 100,000 products in them. */
async function prepare(databaseUrl: string): Promise<void> {
  const [slipway] = peersOn(databaseUrl) as [Peer];
  const env = { ...slipway.env, DATABASE_MIGRATE: 'true', DATABASE_SEED: 'full' };
  const running = await startPeer({ ...slipway, name: 'preparation', env, readyAt: firstPage }, logs);
  await running.stop();
}

/** Milliseconds from spawn to the first page of the database. The first start compiles, and does not count. */
async function measureStarts(peers: readonly Peer[]): Promise<Map<string, number[]>> {
  const starts = new Map<string, number[]>(peers.map(({ name }) => [name, []]));
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const peer of peers) {
      const running = await startPeer({ ...peer, readyAt: firstPage }, logs);
      await running.stop();
      if (round > 0) starts.get(peer.name)?.push(running.startMs);
    }
  }
  return starts;
}

/** Measures and prints line by line; gives the ratios of Slipway to Fastify, and what each peer has in memory at the end. */
async function measureLoads(peers: readonly Peer[], kinds: readonly Kind[]) {
  const servers: [string, RunningPeer][] = [];
  for (const peer of peers) servers.push([peer.name, await startPeer(peer, logs)]);
  const ratios = new Map<string, Ratios>();
  for (const kind of kinds) ratios.set(kind.name, printLine(kind.name, await measureLine(servers, kind)));
  const memory = new Map(servers.map(([name, server]) => [name, server.megabytes()]));
  for (const [, server] of servers) await server.stop();
  return { ratios, memory };
}

async function measureLine(servers: readonly [string, RunningPeer][], kind: Kind): Promise<Map<string, Window[]>> {
  const windows = new Map<string, Window[]>(servers.map(([name]) => [name, []]));
  for (const [, server] of servers) await measure(server, kind);
  for (let round = 0; round < Number(values.rounds); round++) {
    const turns = round % 2 === 0 ? servers : servers.toReversed();
    for (const [name, server] of turns) windows.get(name)?.push(await measure(server, kind));
  }
  return windows;
}

async function measure(server: RunningPeer, kind: Kind): Promise<Window> {
  const before = server.cpuMs();
  const end = performance.now() + Number(values.seconds) * 1000;
  const result: LoadResult = await load(server.port, kind, kind.connections, () => performance.now() < end);
  const { answers, failed, seconds, slowestMs } = result;
  return { rate: answers / seconds, cpu: ((server.cpuMs() - before) * 1000) / (answers + failed), slowestMs, failed };
}

function printLine(kind: string, windows: ReadonlyMap<string, readonly Window[]>): Ratios {
  const of = (name: string) => windows.get(name) ?? [];
  const ratio = (name: string, figure: 'rate' | 'cpu') =>
    median(of(name).map((own, round) => own[figure] / (of('Fastify')[round]?.[figure] ?? Number.NaN)));
  const failed = (name: string) => of(name).reduce((sum, window) => sum + window.failed, 0);
  const rows = [...windows.keys()].map((name) => [
    name,
    {
      'requests/s': Math.round(median(of(name).map(({ rate }) => rate))),
      'of Fastify': ratio(name, 'rate').toFixed(2),
      'CPU µs/request': Math.round(median(of(name).map(({ cpu }) => cpu))),
      'CPU of Fastify': ratio(name, 'cpu').toFixed(2),
      'slowest ms': Math.round(Math.max(...of(name).map(({ slowestMs }) => slowestMs))),
      'not as expected': failed(name),
    },
  ]);
  console.log(`\n${kind}; to reach: ${goals[kind]} times the rate of Fastify`);
  console.table(Object.fromEntries(rows));
  return { rate: ratio('Slipway', 'rate'), cpu: ratio('Slipway', 'cpu'), failed: failed('Slipway') };
}

function printEnds(starts: ReadonlyMap<string, readonly number[]>, memory: ReadonlyMap<string, number>): void {
  const rows = [...starts].map(([name, ms]) => [
    name,
    { 'first page after ms': Math.round(median(ms)), 'MB after the load': memory.get(name) },
  ]);
  console.log('\nstart and memory');
  console.table(Object.fromEntries(rows));
}
