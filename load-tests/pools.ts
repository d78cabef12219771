/**
 * Measures how the size of the pool, a second pod, a pgbouncer, a read replica and writers change what a service can do, and prints the tables of
 * docs/explanation/scale.md: `node load-tests/pools.ts [--profile closed-128] [--duration 6s] [--size full] [--way NAME…]`.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { demoPassword } from '../prisma/seed.ts';
import { type ProfileName, profiles } from './lib/profiles.ts';
import { textTable } from './lib/summary-table.ts';
import { readCpuTime, readProcessTime } from './run/cpu-time.ts';
import { findK6, type MeasuredRun, runK6 } from './run/k6.ts';
import { fill, serve } from './run/service.ts';
import { startPgbouncer, withoutPgbouncer } from './servers/pgbouncer.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './servers/replicated-postgres.ts';

/** A way to reach the database. */
interface Way {
  readonly name: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The process of a pooler between. */
  readonly pooler?: number;
  /** Services that share the database, each with a part of the users or of the rate. Default 1. */
  readonly pods?: number;
  /** Whether records are written at the same time. Default false. */
  readonly writers?: boolean;
}

interface Row {
  readonly way: string;
  readonly scenario: string;
  readonly perSecond: number;
  /** Milliseconds; of several pods the mean of theirs. */
  readonly median: number;
  readonly p95: number;
  /** Requests and checks that failed. */
  readonly failed: number;
  /** Requests a second of writers beside. */
  readonly written: number;
  /** Milliseconds of CPU for each request. */
  readonly service: number | undefined;
  readonly primary: number | undefined;
  readonly replica: number | undefined;
  readonly pooler: number | undefined;
}

const scenarios = ['list-shallow', 'read-one'];
const { values } = parseArgs({
  options: {
    ...{ profile: { type: 'string' }, duration: { type: 'string' }, size: { type: 'string' } },
    way: { type: 'string', multiple: true },
  },
});
const { profile = 'closed-128', duration = '6s', size = 'full', way: asked } = values;
if (!Object.hasOwn(profiles, profile))
  throw new Error(`Expected --profile to be one of ${Object.keys(profiles).join(', ')}.`);
if (size !== 'full' && size !== 'small') throw new Error(`Expected --size full or small, got "${size}".`);

async function ways(opened: AsyncDisposableStack, servers: ReplicatedPostgres): Promise<Way[]> {
  const url = servers.primary('load');
  const pools = ['2', '5', '10', '20'].map((count) => ({
    name: `pool of ${count}`,
    variables: { DATABASE_URL: url, DATABASE_POOL_SIZE: count },
  }));
  const replica = { DATABASE_URL: url, DATABASE_READ_URL: servers.replica('load') };
  if (withoutPgbouncer) console.error(`left out: pgbouncer${withoutPgbouncer}`);
  const pooler = withoutPgbouncer ? undefined : await startPgbouncer(opened, url, 10);
  const pooled = pooler && { variables: { DATABASE_URL: pooler.url }, pooler: pooler.pid };
  const direct = { DATABASE_URL: url };
  return [
    ...pools,
    ...(pooled ? [{ name: 'pgbouncer', ...pooled }] : []),
    { name: 'two pods', variables: direct, pods: 2 },
    ...(pooled ? [{ name: 'two pods, pgbouncer', ...pooled, pods: 2 }] : []),
    { name: 'replica', variables: replica },
    { name: 'writers', variables: direct, writers: true },
    { name: 'replica, writers', variables: replica, writers: true },
  ];
}

async function measure(k6: string, servers: ReplicatedPostgres, way: Way): Promise<Row[]> {
  const { name, variables, pooler, pods = 1, writers = false } = way;
  await using opened = new AsyncDisposableStack();
  const services = await Promise.all(Array.from({ length: pods }, () => serve(opened, variables)));
  const { primary, replica } = servers.processes();
  const used = () => ({
    service: services.reduce((sum, { pid }) => sum + (readCpuTime(pid)?.service ?? 0), 0),
    ...{ primary: readProcessTime(primary), replica: readProcessTime(replica) },
    pooler: pooler ? readProcessTime(pooler) : 0,
  });
  const rows: Row[] = [];
  for (const scenario of scenarios) {
    let before = used();
    const begun = () => {
      before = used();
    };
    const stopped = new AbortController();
    const writing = writers ? writeBeside(k6, services[0]?.url ?? '', stopped.signal) : undefined;
    const rate = String(Math.round(profiles[profile as ProfileName].rate / pods));
    const runs = await Promise.all(
      services.map(({ url: target }) => {
        const run = { scenario, profile, target, resource: undefined, rate, duration, prometheus: undefined };
        return runK6(k6, { ...run, variables: { STEADY: String(!writers) } }, () => undefined, begun);
      }),
    );
    const after = used();
    stopped.abort();
    const wrote = await writing;
    const sum = (part: (run: MeasuredRun) => number) => runs.reduce((all, run) => all + part(run), 0);
    const requests = sum((run) => run.requests);
    const mean = (part: (run: MeasuredRun) => number) =>
      Math.round((10 * sum((run) => part(run) * run.requests)) / requests) / 10;
    // What writers took cannot be told from what the lists did.
    const each = (part: keyof typeof after) =>
      writers ? undefined : Math.round((100 * (after[part] - before[part])) / requests) / 100;
    rows.push({
      ...{ way: name, scenario, median: mean((run) => run.median), p95: mean((run) => run.p95) },
      perSecond: Math.round(sum((run) => run.requests / run.seconds)),
      written: wrote ? Math.round(wrote.requests / wrote.seconds) : 0,
      failed: sum((run) => run.failed + run.checksFailed),
      ...{ service: each('service'), primary: each('primary'), replica: each('replica'), pooler: each('pooler') },
    });
  }
  return rows;
}

/** Logs in, creates, changes, reads and deletes records, four times a second, until it is stopped. */
function writeBeside(k6: string, target: string, stopped: AbortSignal): Promise<MeasuredRun> {
  const run = { scenario: 'write-mix', profile: 'soak', target, resource: undefined, rate: '10', duration: '5m' };
  const variables = { LOAD_EMAIL: 'admin@example.com', LOAD_PASSWORD: demoPassword };
  return runK6(k6, { ...run, variables, prometheus: undefined }, (child) => {
    stopped.addEventListener('abort', () => child.kill('SIGINT'));
  });
}

async function run(): Promise<void> {
  const k6 = findK6();
  await using opened = new AsyncDisposableStack();
  const servers = await startReplicatedPostgres(opened);
  await servers.create('load');
  await fill(servers.primary('load'), size as 'full' | 'small', true);
  await servers.settle();
  const rows: Row[] = [];
  const known = await ways(opened, servers);
  for (const name of asked ?? []) {
    if (known.every((way) => way.name !== name)) {
      throw new Error(`Expected --way to be one of ${known.map((way) => way.name).join(', ')}; got "${name}".`);
    }
  }
  for (const way of known.filter(({ name }) => asked?.includes(name) ?? true))
    rows.push(...(await measure(k6, servers, way)));
  console.log(
    textTable<Row>(
      [
        ['database by', ({ way }) => way],
        ['scenario', ({ scenario }) => scenario],
        ['requests/s', ({ perSecond }) => perSecond],
        ['median ms', ({ median }) => median],
        ['p95 ms', ({ p95 }) => p95],
        ['failed', ({ failed }) => failed],
        ['written/s', ({ written }) => written],
        ['service, ms of CPU', (row) => row.service ?? '-'],
        ['PostgreSQL', (row) => row.primary ?? '-'],
        ['its replica', (row) => row.replica ?? '-'],
        ['pgbouncer', (row) => row.pooler ?? '-'],
        ['', () => ''],
      ],
      rows,
      2,
    ),
  );
}

const failure = await run().catch((error: unknown) => error);
if (failure) console.error(failure);
// Said outright: the package of the database's binaries would end the process with 0.
process.exit(failure ? 1 : 0);
