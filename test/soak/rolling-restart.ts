import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { type Attempt, adminToken, type ClientRequest, Clients } from '../support/clients.ts';
import { SpawnedService } from '../support/spawn-service.ts';
import { type Backend, TcpSwitch } from '../support/tcp-switch.ts';

/** What came of a rolling restart under load. */
export interface RollingResult {
  trials: number;
  requests: number;
  /** Attempts that got no answer, or another than they should. */
  failed: Attempt[];
  /** Records whose creation was answered, and records that are there. */
  created: { answered: number; found: number };
  /** Exit codes of the instances that were replaced. */
  codes: (number | null)[];
}

type Instance = SpawnedService & Backend;

const workers = 6;

/**
 * Two instances behind one port, under load of three kinds of client: one after the other gets SIGTERM and is replaced,
 * `trials` times in all.
 *
 * @param databaseUrl an empty database
 */
export async function rollingRestart(databaseUrl: string, trials: number): Promise<RollingResult> {
  const instances: [Instance, Instance] = [await boot(databaseUrl), await boot(databaseUrl)];
  try {
    return await restartAll(instances, databaseUrl, trials);
  } finally {
    await Promise.all(instances.map((instance) => instance.kill()));
  }
}

async function restartAll(instances: Instance[], databaseUrl: string, trials: number): Promise<RollingResult> {
  await using balancer = await TcpSwitch.start();
  for (const instance of instances) balancer.add(instance);
  const marker = `rolling-${randomUUID()}`;
  const attempts: Attempt[] = [];
  const next = readsAndWrites(marker, await adminToken(balancer.url));
  const clients = new Clients(balancer.url, next, (attempt) => attempts.push(attempt));
  await clients.start(workers);
  const codes: (number | null)[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const leaving = instances[0] as Instance;
    const { code } = await leaving.end();
    codes.push(code);
    balancer.remove(leaving);
    instances.shift();
    instances.push(await boot(databaseUrl));
    balancer.add(instances[1] as Instance);
  }
  await clients.stop();
  const failed = attempts.filter(({ method, status }) => status !== (method === 'POST' ? 201 : 200));
  const answered = attempts.filter(({ status }) => status === 201).length;
  const created = { answered, found: await countCreated(balancer.url, marker) };
  return { trials, requests: attempts.length, failed, created, codes };
}

async function boot(databaseUrl: string): Promise<Instance> {
  const service = new SpawnedService({
    env: {
      DATABASE_URL: databaseUrl,
      ...{
        DATABASE_MIGRATE: 'true',
        DATABASE_SEED: 'small',
        ACCESS_SECRET: 'of all instances the same secret, 32 or more',
      },
      ...{ SHUTDOWN_ACCEPT_MS: '500', SHUTDOWN_DEADLINE_MS: '10000', ENABLE_OPENAPI: 'false' },
      ...{ ENABLE_LOGGING: 'false', RATE_LIMIT_ENABLED: 'false' },
    },
  });
  return Object.assign(service, await service.ready());
}

/** Every tenth request writes. */
function readsAndWrites(marker: string, token: string): () => ClientRequest {
  let count = 0;
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return () => {
    count += 1;
    if (count % 10 > 0) return { method: 'GET', path: '/api/v1/products/paginated?pageSize=5' };
    return {
      method: 'POST',
      path: '/api/v1/categories',
      headers,
      body: JSON.stringify({ name: `${marker} ${count}` }),
    };
  };
}

async function countCreated(url: string, marker: string): Promise<number> {
  const where = encodeURIComponent(JSON.stringify({ name: { contains: marker } }));
  const response = await fetch(`${url}/api/v1/categories/paginated?where=${where}`);
  const { total } = (await response.json()) as { total: number };
  return total;
}

if (import.meta.main) {
  const postgres = await startPostgres();
  try {
    const result = await rollingRestart(await postgres.createDatabase('rolling'), Number(process.argv[2] ?? 24));
    const { failed, ...figures } = result;
    const report = { ...figures, codes: result.codes.join(' '), failed: failed.length, examples: failed.slice(0, 5) };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    process.exitCode = failed.length > 0 ? 1 : 0;
  } finally {
    await postgres.stop();
  }
}
