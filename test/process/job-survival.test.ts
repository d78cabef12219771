import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, expect, it, vi } from 'vitest';
import { createService, type Service } from '../../src/chassis/service.ts';
import type {} from '../fixtures/deeds/modules/deeds/deed.jobs.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { recordingLogger } from '../support/log-lines.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

/** All 1,000: JOB_SURVIVAL=1000. */
const count = Number(process.env.JOB_SURVIVAL ?? 100);
const replicas = 3;
const killEveryMs = 1000;
const limitMs = 60_000 + count * 200;

afterAll(killSpawned);

const tables =
  'CREATE TABLE tries (id uuid, pid int, at timestamptz DEFAULT now()); CREATE TABLE deeds (id uuid PRIMARY KEY, number int)';
const totals = `SELECT (SELECT count(*) FROM deeds)::int AS effects, (SELECT count(DISTINCT number) FROM deeds)::int AS done,
  (SELECT count(*) FROM tries)::int AS tries`;

const busy = 'SELECT pid FROM tries WHERE id NOT IN (SELECT id FROM deeds) ORDER BY at DESC LIMIT 1';

it(
  `does each of ${count} jobs and stores its effect once, while one of three replicas is killed every second`,
  async () => {
    const { settings, remove } = await emptyDatabase('postgresql');
    const sender = await startSender(settings.DATABASE_URL);
    const client = new Client({ connectionString: settings.DATABASE_URL });
    await client.connect();
    await client.query(tables);
    const alive = await Promise.all(Array.from({ length: replicas }, () => replica(settings.DATABASE_URL)));
    for (let number = 0; number < count; number += 1) await sender.container.resolve('jobs').send('deed', { number });
    const look = async () => (await client.query<{ effects: number; done: number; tries: number }>(totals)).rows[0];
    // All of them have jobs by then.
    await vi.waitUntil(async () => ((await look())?.tries ?? 0) >= 15, { timeout: limitMs, interval: 20 });
    const killer = new AbortController();
    const killing = killEach(alive, { client, databaseUrl: settings.DATABASE_URL, signal: killer.signal });
    try {
      const isDone = async () => (await look())?.done === count;
      await vi.waitUntil(isDone, { timeout: limitMs, interval: 200 });
    } finally {
      killer.abort();
    }
    const kills = await killing;
    const { effects, tries } = (await look()) ?? {};
    await Promise.all(alive.map((service) => service.kill()));
    await sender.close();
    await client.end();
    await remove();
    expect(kills).toBeGreaterThan(0);
    expect(effects).toBe(count);
    // Some were killed in the middle, else this would show nothing.
    expect(tries).toBeGreaterThan(count);
  },
  limitMs + 30_000,
);

/** A service that sends jobs and runs none. */
async function startSender(databaseUrl: string): Promise<Service> {
  const modulesDirectory = join(import.meta.dirname, '../fixtures/deeds/modules');
  const env = { ...loopback, JOBS_ENABLED: 'false', DATABASE_URL: databaseUrl };
  const config = { modules: [{ name: 'deeds', enabled: true }], server: { port: 0 } };
  const service = createService(config, { env, modulesDirectory, logger: recordingLogger().logger });
  await service.start();
  return service;
}

const loopback = { NODE_ENV: 'test', HOST: '127.0.0.1', INTERNAL_PORT: '0' };

async function replica(databaseUrl: string): Promise<SpawnedService> {
  const env = { DATABASE_URL: databaseUrl, DATABASE_MIGRATE: 'false', JOBS_LEASE_SECONDS: '10', JOBS_POLL_MS: '200' };
  const service = new SpawnedService({ program: ['dist-test/test/fixtures/deeds/main.js'], env });
  await service.ready();
  return service;
}

interface Killing {
  client: Client;
  databaseUrl: string;
  signal: AbortSignal;
}

/** Kills every second a replica that has a job, where one has, and starts another; says how many it killed. */
async function killEach(alive: SpawnedService[], { client, databaseUrl, signal }: Killing): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const pid = (await client.query<{ pid: number }>(busy)).rows[0]?.pid;
    const index = Math.max(
      0,
      alive.findIndex(({ child }) => child.pid === pid),
    );
    await alive.splice(index, 1)[0]?.kill();
    alive.push(await replica(databaseUrl));
    await pause(killEveryMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return kills + 1;
  }
}
