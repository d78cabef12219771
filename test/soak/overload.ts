import { execFileSync } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { OpenLoop, percentile } from '../support/open-loop.ts';
import { SpawnedService } from '../support/spawn-service.ts';

/** What came of more load than the service can take. Rates are per second, times in milliseconds, memory in megabytes. */
export interface OverloadResult {
  /** Answers with 200 at full load with nothing to refuse, in the mean of a while before and a while after. */
  capacity: number;
  /** Requests per second that were sent. */
  offered: number;
  /** Answers with 200 within a second while more came than could be answered, and their share of the capacity. */
  goodput: number;
  share: number;
  /** Of the requests that were answered with 200. */
  p50: number;
  p99: number;
  /** Of those that were refused. */
  refusedP50: number;
  /** How many answers of each status; 0 for none. */
  statuses: Record<number, number>;
  /** The most memory before and after. */
  memory: [before: number, after: number];
  /** Until, at half of the capacity, nothing was refused any more. */
  recoveredAfter: number;
  /** Of all requests from a second after the load went down. */
  p99After: number;
}

/** How long each part takes, in seconds. */
export interface OverloadTimes {
  warm: number;
  full: number;
  over: number;
  after: number;
}

const atOnce = 20;
/** As long as all requests under way wait for each other: twice what the service takes for overload by default. */
const waitSeconds = 1;
const someConnections = 500;
/** Beyond that the client is what is slow. */
const mostConnections = 4000;

/**
 * Loads a service on a database of its own to its capacity, then with four times as much, whoever waits for an answer,
 * then with half of it, and to its capacity again, because the speed of a machine changes while it is measured. Every
 * request filters differently, so that none shares its read with another.
 *
 * @param databaseUrl an empty database
 * @param started gets the service before the load begins
 * @param products the size of its sample data
 */
export async function overload(
  databaseUrl: string,
  times: OverloadTimes,
  started: (service: SpawnedService) => void = () => undefined,
  products = 'small',
): Promise<OverloadResult> {
  const { service, url } = await boot(databaseUrl, products, {
    HTTP_MAX_CONNECTIONS_PER_ADDRESS: `${mostConnections}`,
  });
  try {
    started(service);
    await load(url, (loop) => loop.saturate(atOnce, times.warm));
    const before = peakMemory(service);
    const first = await capacityOf(url, times.full / 2);
    const connections = Math.min(Math.max(someConnections, Math.ceil(first * waitSeconds)), mostConnections);
    const over = await load(url, (loop) => loop.run(first * 4, times.over), connections);
    const [began, after] = [performance.now(), await load(url, (loop) => loop.run(first / 2, times.after))];
    const capacity = (first + (await capacityOf(url, times.full / 2))) / 2;
    const refused = over.filter(({ status }) => status === 503);
    const admitted = good(over).map(({ ms }) => ms);
    const lastRefused = after.findLast(({ status }) => status !== 200)?.at ?? began;
    const settled = after.filter(({ at }) => at > began + 1000).map(({ ms }) => ms);
    const goodput = admitted.filter((ms) => ms <= 1000).length / times.over;
    return {
      capacity: Math.round(capacity),
      offered: Math.round(over.length / times.over),
      goodput: Math.round(goodput),
      share: Math.round((goodput / capacity) * 100) / 100,
      p50: Math.round(percentile(admitted, 0.5)),
      p99: Math.round(percentile(admitted, 0.99)),
      refusedP50:
        Math.round(
          percentile(
            refused.map(({ ms }) => ms),
            0.5,
          ) * 10,
        ) / 10,
      statuses: count(over.map(({ status }) => status)),
      memory: [before, peakMemory(service)],
      recoveredAfter: Math.round(lastRefused - began),
      p99After: Math.round(percentile(settled, 0.99)),
    };
  } finally {
    await service.end();
  }
}

type Answers = OpenLoop['answers'];

export const good = (answers: Answers) => answers.filter(({ status }) => status === 200);

/** Answers per second with nothing to refuse. */
export async function capacityOf(url: string, seconds: number): Promise<number> {
  return good(await load(url, (loop) => loop.saturate(atOnce, seconds))).length / seconds;
}

/** The answers to ordinary lists, each of which filters differently. */
export async function load(
  url: string,
  drive: (loop: OpenLoop) => Promise<void>,
  connections?: number,
): Promise<Answers> {
  const loop = new OpenLoop(url, nextPath, connections);
  await drive(loop);
  loop.close();
  return loop.answers;
}

let asked = 0;

/** No two of the last 100,000 ask the same: a total that was counted lately is not counted again. */
function nextPath(): string {
  asked += 1;
  const where = encodeURIComponent(JSON.stringify({ price: { gte: asked % 100_000 } }));
  return `/api/v1/products/paginated?pageSize=20&where=${where}`;
}

/**
 * A service as in production, with its log in a file that nobody reads.
 *
 * @param products the size of its sample data: `small`, which is a thousand, or `full`, which is a hundred thousand
 * @param env further variables
 */
export async function boot(
  databaseUrl: string,
  products = 'small',
  env: Record<string, string> = {},
): Promise<{ service: SpawnedService; url: string; internalUrl: string }> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const service = new SpawnedService({
    stdout: openSync('/dev/null', 'w'),
    env: {
      ...{ DATABASE_URL: databaseUrl, DATABASE_MIGRATE: 'true', DATABASE_SEED: products, PORT: `${port}` },
      ...{ INTERNAL_PORT: `${internalPort}`, SHUTDOWN_ACCEPT_MS: '0', ENABLE_OPENAPI: 'false', ...env },
    },
  });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  while (!(await isReady(`${internalUrl}/readyz`))) {
    if (service.child.exitCode !== null) throw new Error(`The service ended at its start: ${service.stderr}`);
  }
  return { service, url: `http://127.0.0.1:${port}`, internalUrl };
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(url).catch(() => undefined))?.status === 200;
}

function peakMemory({ child }: SpawnedService): number {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(peak) / 1024);
}

/** How many there are of each. */
export function count(values: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Keeps a process, and all that it starts from now on, to one core. */
export function pin(pid: number | undefined, core: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
}

// The service has a core to itself, as a pod would; clients and database share the other, and take no time from it. With
// `full` the database is what has no more time, with `small` the service. Before it is loaded PostgreSQL has to have looked at
// its new rows, or the first capacity would be that of bad plans.
if (import.meta.main) {
  pin(process.pid, 1);
  const postgres = await startPostgres();
  try {
    const times = { warm: 40, full: 20, over: 30, after: 10 };
    const database = await postgres.createDatabase('overload');
    const result = await overload(database, times, ({ child }) => pin(child.pid, 0), process.argv[2]);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await postgres.stop();
  }
}
