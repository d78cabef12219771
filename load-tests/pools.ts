/**
 * Measures how the size of the pool, a pgbouncer and a read replica change what a service can do, and prints the tables of
 * docs/explanation/scale.md: `node load-tests/pools.ts [--duration 6s] [--size full]`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { textTable } from './lib/summary-table.ts';
import { readCpuTime } from './run/cpu-time.ts';
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
  readonly database: number;
  readonly pooler: number;
}

const scenarios = ['list-shallow', 'read-one'];
const { values } = parseArgs({ options: { duration: { type: 'string' }, size: { type: 'string' } } });
const { duration = '6s', size = 'full' } = values;
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

async function measure(k6: string, { name, variables, pooler }: Way): Promise<Row[]> {
  await using opened = new AsyncDisposableStack();
  const service = await serve(opened, variables);
  const rows: Row[] = [];
  for (const scenario of scenarios) {
    const run = {
      scenario,
      profile: 'closed-128',
      target: service.url,
      resource: undefined,
      rate: undefined,
      duration,
    };
    const before = { ...readCpuTime(service.pid), pooler: pooler ? millisecondsOf(pooler) : 0 };
    const measured = await runK6(k6, { ...run, variables: {}, prometheus: undefined }, () => undefined);
    const after = { ...readCpuTime(service.pid), pooler: pooler ? millisecondsOf(pooler) : 0 };
    const each = (part: 'service' | 'database' | 'pooler') =>
      Math.round((100 * ((after[part] ?? 0) - (before[part] ?? 0))) / measured.requests) / 100;
    rows.push({
      ...{ way: name, scenario, median: measured.median },
      perSecond: Math.round(measured.requests / measured.seconds),
      ...{ service: each('service'), database: each('database'), pooler: each('pooler') },
    });
  }
  return rows;
}

/** CPU that a process has used; Linux counts it in hundredths of a second. */
function millisecondsOf(pid: number): number {
  const fields =
    readFileSync(join('/proc', String(pid), 'stat'), 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

async function run(): Promise<void> {
  const k6 = findK6();
  await using opened = new AsyncDisposableStack();
  const servers = await startReplicatedPostgres(opened);
  await servers.create('load');
  await fill(servers.primary('load'), size as 'full' | 'small', false);
  await servers.settle();
  const rows: Row[] = [];
  for (const way of await ways(opened, servers)) rows.push(...(await measure(k6, way)));
  console.log(
    textTable<Row>(
      [
        ['database by', ({ way }) => way],
        ['scenario', ({ scenario }) => scenario],
        ['requests/s', ({ perSecond }) => perSecond],
        ['median ms', ({ median }) => median],
        ['service, ms of CPU', (row) => row.service],
        ['PostgreSQL', (row) => row.database],
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
