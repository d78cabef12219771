/**
 * Measures how the size of the pool, a pgbouncer and a read replica change what a service can do, and prints the tables of
 * docs/explanation/scale.md: `node load-tests/pools.ts [--profile closed-128] [--duration 6s] [--size full] [--way NAME…]`.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { profiles } from './lib/profiles.ts';
import { textTable } from './lib/summary-table.ts';
import { readCpuTime, readProcessTime } from './run/cpu-time.ts';
import { findK6, runK6 } from './run/k6.ts';
import { fill, serve } from './run/service.ts';
import { startPgbouncer, withoutPgbouncer } from './servers/pgbouncer.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './servers/replicated-postgres.ts';

/** A way to reach the database. */
interface Way {
  readonly name: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The process of a pooler between. */
  readonly pooler?: number;
}

interface Row {
  readonly way: string;
  readonly scenario: string;
  readonly perSecond: number;
  readonly median: number;
  /** Milliseconds of CPU for each request. */
  readonly service: number;
  readonly primary: number;
  readonly replica: number;
  readonly pooler: number;
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
  return [
    ...pools,
    ...(pooler ? [{ name: 'pgbouncer', variables: { DATABASE_URL: pooler.url }, pooler: pooler.pid }] : []),
    { name: 'replica', variables: replica },
  ];
}

async function measure(k6: string, servers: ReplicatedPostgres, { name, variables, pooler }: Way): Promise<Row[]> {
  await using opened = new AsyncDisposableStack();
  const service = await serve(opened, variables);
  const { primary, replica } = servers.processes();
  const used = () => ({
    service: readCpuTime(service.pid)?.service ?? 0,
    ...{ primary: readProcessTime(primary), replica: readProcessTime(replica) },
    pooler: pooler ? readProcessTime(pooler) : 0,
  });
  const rows: Row[] = [];
  for (const scenario of scenarios) {
    const run = {
      scenario,
      profile,
      target: service.url,
      resource: undefined,
      rate: undefined,
      duration,
    };
    let before = used();
    const begun = () => {
      before = used();
    };
    const measured = await runK6(k6, { ...run, variables: {}, prometheus: undefined }, () => undefined, begun);
    const after = used();
    const each = (part: keyof typeof after) =>
      Math.round((100 * (after[part] - before[part])) / measured.requests) / 100;
    rows.push({
      ...{ way: name, scenario, median: measured.median },
      perSecond: Math.round(measured.requests / measured.seconds),
      ...{ service: each('service'), primary: each('primary'), replica: each('replica'), pooler: each('pooler') },
    });
  }
  return rows;
}

async function run(): Promise<void> {
  const k6 = findK6();
  await using opened = new AsyncDisposableStack();
  const servers = await startReplicatedPostgres(opened);
  await servers.create('load');
  await fill(servers.primary('load'), size as 'full' | 'small', false);
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
        ['service, ms of CPU', (row) => row.service],
        ['PostgreSQL', (row) => row.primary],
        ['its replica', (row) => row.replica],
        ['pgbouncer', (row) => row.pooler],
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
