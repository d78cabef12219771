/**
 * Measures what a list waits for with a read replica: two services on one database, with and without DATABASE_READ_URL,
 * are asked by turns, so that both meet the same moments of a machine; then the questions of both servers by themselves.
 * `node load-tests/replica-delay.ts [--size full] [--seconds 10]` prints the table of docs/explanation/scale.md.
 */
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { textTable } from './lib/summary-table.ts';
import { fill, serve } from './run/service.ts';
import { startReplicatedPostgres } from './servers/replicated-postgres.ts';

const { values } = parseArgs({ options: { size: { type: 'string' }, seconds: { type: 'string' } } });
const { size = 'full', seconds = '10' } = values;
if (size !== 'full' && size !== 'small') throw new Error(`Expected --size full or small, got "${size}".`);

/** Requests a second, of each service. */
const rate = 14;

/** What a list asks most of a database for: its total. */
const count = 'SELECT count(*) FROM products';

type Ask = () => Promise<unknown>;

/** What is asked and how long it took, in milliseconds. */
interface Row {
  readonly asked: string;
  readonly writers: string;
  readonly median: number;
  readonly p95: number;
}

/** Asks for each by turns, at a steady rate, one at a time. */
async function byTurns(asked: Readonly<Record<string, Ask>>, writers: string): Promise<Row[]> {
  const times = new Map(Object.keys(asked).map((name) => [name, [] as number[]]));
  for (let turn = 0; turn < rate * Number(seconds); turn += 1) {
    for (const [name, ask] of Object.entries(asked)) {
      const begun = performance.now();
      await ask();
      times.get(name)?.push(performance.now() - begun);
      await delay(Math.max(0, 1000 / rate / Object.keys(asked).length - (performance.now() - begun)));
    }
  }
  return [...times].map(([name, all]) => {
    const sorted = all.toSorted((one, other) => one - other);
    const at = (share: number) => Math.round(10 * (sorted[Math.floor(share * sorted.length)] ?? 0)) / 10;
    return { asked: name, writers, median: at(0.5), p95: at(0.95) };
  });
}

/** Changes a record about thirty times a second, until it is stopped. */
async function write(client: Client, stopped: AbortSignal): Promise<void> {
  for (let number = 0; !stopped.aborted; number += 1) {
    await client.query('UPDATE products SET price = $1 WHERE id = (SELECT id FROM products LIMIT 1)', [number]);
    await delay(33);
  }
}

async function run(): Promise<Row[]> {
  await using opened = new AsyncDisposableStack();
  const servers = await startReplicatedPostgres(opened);
  await servers.create('load');
  const DATABASE_URL = servers.primary('load');
  await fill(DATABASE_URL, size as 'full' | 'small', false);
  await servers.settle();
  const direct = await serve(opened, { DATABASE_URL });
  const replicated = await serve(opened, { DATABASE_URL, DATABASE_READ_URL: servers.replica('load') });
  const [primary, replica, writer] = await Promise.all(
    [DATABASE_URL, servers.replica('load'), DATABASE_URL].map(async (connectionString) => {
      const client = new Client({ connectionString });
      await client.connect();
      opened.defer(() => client.end());
      return client;
    }),
  );
  if (!primary || !replica || !writer) throw new Error('Expected three connections.');
  const list =
    ({ url }: { url: string }) =>
    async () => {
      const answer = await fetch(`${url}/api/v1/products/paginated?page=${1 + Math.floor(10 * Math.random())}`);
      if (!answer.ok) throw new Error(`Expected 200, got ${answer.status}.`);
      await answer.text();
    };
  const asked = {
    'list, without': list(direct),
    'list, with the replica': list(replicated),
    'count, on the primary': () => primary.query(count),
    'count, on the replica': () => replica.query(count),
    'position of the primary': () => primary.query('SELECT pg_current_wal_flush_lsn()'),
    'position of the replica': () => replica.query('SELECT pg_last_wal_replay_lsn()'),
  };
  await byTurns(asked, '');
  const quiet = await byTurns(asked, 'none');
  const stopped = new AbortController();
  const writing = write(writer, stopped.signal);
  const busy = await byTurns(asked, '30/s');
  stopped.abort();
  await writing;
  return [...quiet, ...busy];
}

try {
  const rows = await run();
  console.log(
    textTable<Row>(
      [
        ['asked', ({ asked }) => asked],
        ['writes', ({ writers }) => writers],
        ['median ms', ({ median }) => median],
        ['p95 ms', ({ p95 }) => p95],
      ],
      rows,
      2,
    ),
  );
  // Said outright: the package of the database's binaries would end the process with 0.
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
