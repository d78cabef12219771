/**
 * Slipway beside bare Express and Fastify on a route without a database: `npm ci && npm run bench` in this folder, on
 * Linux with at least two cores, of which the server has one and its clients the other. Peers take turns, so that a change
 * of the machine's speed meets all of them; the figures are medians over the rounds, the ratios medians of the ratios
 * within a round. All keep what Node compiled of them, as the image does, so the first start of each counts for nothing.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildService } from '../../src/chassis/cli/build/build-service.ts';
import { costPeers } from './costs.ts';
import { get, load } from './load.ts';
import { type Peer, type RunningPeer, startPeer } from './peer.ts';
import { median, startCollector } from './surroundings.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '40000' },
    // What each part of Slipway costs, in place of the other frameworks.
    costs: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const requests = Number(values.requests);
const connections = 32;
const ping = { requests: [get('/ping')], status: 200 };
const logs = mkdtempSync(join(tmpdir(), 'slipway-peers-'));

await buildService({
  outDir: join(import.meta.dirname, '../../dist-peers'),
  more: ['load-tests/peers/entries/slipway.ts', 'load-tests/peers/modules/**/*.routes.ts'],
});

const collector = await startCollector();
const traced = collector.env;
const service = {
  DATABASE_URL: `file:${join(logs, 'empty.db')}`,
  CURSOR_SECRET: 'of a benchmark, where nothing is worth a secret',
  HOST: '127.0.0.1',
  INTERNAL_PORT: '0',
  ENABLE_OPENAPI: 'false',
  RATE_LIMIT_ENABLED: 'false',
};
const off = {
  ENABLE_CORS: 'false',
  ENABLE_SECURITY_HEADERS: 'false',
  ENABLE_COMPRESSION: 'false',
  ENABLE_LOGGING: 'false',
};

const others: Peer[] = [
  { name: 'express bare', entry: 'entries/express-bare.js' },
  { name: 'express, database', entry: 'entries/express-database.js', env: { DATABASE_URL: service.DATABASE_URL } },
  {
    name: 'slipway, all off',
    entry: '../../dist-peers/load-tests/peers/entries/slipway.js',
    env: { ...service, ...off },
  },
  {
    name: 'slipway, all off, no database',
    entry: '../../dist-peers/load-tests/peers/entries/slipway.js',
    env: { ...service, ...off, DATABASE_URL: 'none' },
  },
  {
    name: 'slipway, all on',
    entry: '../../dist-peers/load-tests/peers/entries/slipway.js',
    env: { ...service, ...traced },
  },
  {
    name: 'fastify, same telemetry',
    entry: 'entries/fastify-full.js',
    preload: 'entries/telemetry.js',
    env: traced,
  },
];

const peers = values.costs ? costPeers({ ...service, ...traced }) : others;
const [base] = peers as [Peer];

interface Figures {
  cpu: number[];
  rate: number[];
  start: number[];
  startCpu: number[];
}

const figures = new Map(
  peers.map(({ name }): [string, Figures] => [name, { cpu: [], rate: [], start: [], startCpu: [] }]),
);

for (let round = 0; round < rounds; round++) {
  for (const peer of peers) {
    const running = await startPeer(peer, logs);
    const startCpu = running.cpuMs();
    await load(running.port, ping, connections, (sent) => sent < requests / 2);
    const measured = await measure(running);
    await running.stop();
    const own = figures.get(peer.name) as Figures;
    own.cpu.push(measured.cpu);
    own.rate.push(measured.rate);
    if (round === 0) continue;
    own.start.push(running.startMs);
    own.startCpu.push(startCpu);
  }
}
collector.stop();

async function measure(running: RunningPeer): Promise<{ cpu: number; rate: number }> {
  const before = running.cpuMs();
  const { seconds, failed } = await load(running.port, ping, connections, (sent) => sent < requests);
  if (failed > 0) throw new Error(`${failed} answers were no 200`);
  return { cpu: ((running.cpuMs() - before) * 1000) / requests, rate: requests / seconds };
}

/** The median over the rounds of one peer's figure in the other's. */
function ratio(peer: string, other: string, figure: keyof Figures): string {
  const [ours, theirs] = [figures.get(peer), figures.get(other)] as [Figures, Figures];
  return median(ours[figure].map((value, round) => value / (theirs[figure][round] as number))).toFixed(2);
}

console.table(
  Object.fromEntries(
    peers.map(({ name }) => {
      const { cpu, rate, start, startCpu } = figures.get(name) as Figures;
      return [
        name,
        {
          'CPU µs/request': Math.round(median(cpu)),
          [values.costs ? 'of all on' : 'of bare Express']: ratio(name, base.name, 'cpu'),
          'requests/s': Math.round(median(rate)),
          'start ms': Math.round(median(start)),
          'start CPU ms': Math.round(median(startCpu)),
          ...(!values.costs && {
            'of Fastify': ratio(name, 'fastify, same telemetry', 'rate'),
            'of Express': ratio(name, 'express bare', 'start'),
            'with database': ratio(name, 'express, database', 'start'),
          }),
        },
      ];
    }),
  ),
);
