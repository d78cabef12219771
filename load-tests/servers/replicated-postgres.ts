import type { ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, cpSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { Client } from 'pg';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { postgresPackage } from '../../src/chassis/testing/postgres-package.ts';

const user = 'slipway';

/** A PostgreSQL server and its streaming replica, each a process of its own. */
export interface ReplicatedPostgres {
  /** URL of a database on the primary. */
  primary(database: string): string;
  /** URL of the same database on the replica. */
  replica(database: string): string;
  /** Ids of their processes. */
  processes(): { readonly primary: number; readonly replica: number };
  /** Makes an empty database. */
  create(database: string): Promise<void>;
  /** Has the replica stop replaying what it receives, or go on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Waits until the replica has replayed all that the primary has written. */
  settle(): Promise<void>;
  /** Kills the replica without a word to its clients, or starts it again with its files. */
  killReplica(): Promise<void>;
  startReplica(): Promise<void>;
}

/** Starts both, to be ended with `opened`. */
export async function startReplicatedPostgres(opened: AsyncDisposableStack): Promise<ReplicatedPostgres> {
  const [ports, { EmbeddedPostgres, remove }] = await Promise.all([
    Promise.all([freePort(), freePort()]),
    postgresPackage(resolve('node_modules')),
  ]);
  const [port, replicaPort] = ports;
  const directory = await mkdtemp(join(tmpdir(), 'slipway-replicated-'));
  const settings = ['fsync=off', 'wal_keep_size=256MB'];
  const shared = {
    user,
    password: user,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => undefined,
    onError: () => undefined,
  };
  const files = { primary: `${directory}-primary`, replica: `${directory}-replica` };
  const primary = new EmbeddedPostgres({ ...shared, databaseDir: files.primary, port });
  const replica = new EmbeddedPostgres({ ...shared, databaseDir: files.replica, port: replicaPort });
  opened.defer(async () => {
    await replica.stop();
    await primary.stop();
    for (const path of [directory, files.primary, files.replica]) await rm(path, { recursive: true, force: true });
    remove();
  });
  await primary.initialise();
  // Of a server that has never run, the files are a base backup.
  copyStandby(files, `host=127.0.0.1 port=${port} user=${user} password=${user}`);
  await primary.start();
  const url = (at: number) => (database: string) => `postgresql://${user}:${user}@127.0.0.1:${at}/${database}`;
  const urls = { primary: url(port), replica: url(replicaPort) };
  const startReplica = async () => {
    // It says that it takes read-only connections, for which the package does not listen.
    let hasEnded = false;
    replica.start().catch(() => {
      hasEnded = true;
    });
    while (!(await answers(urls.replica('postgres')))) {
      if (hasEnded) throw new Error('Expected the replica to start, found that it ended.');
    }
  };
  await startReplica();
  const onReplica = (sql: string) => ask(urls.replica('postgres'), sql);
  return {
    ...urls,
    processes: () => ({ primary: processOf(primary).pid ?? 0, replica: processOf(replica).pid ?? 0 }),
    create: async (database) => void (await ask(urls.primary('postgres'), `CREATE DATABASE "${database}"`)),
    pause: async () => void (await onReplica('SELECT pg_wal_replay_pause()')),
    resume: async () => void (await onReplica('SELECT pg_wal_replay_resume()')),
    settle: async () => {
      const [{ lsn }] = await ask(urls.primary('postgres'), 'SELECT pg_current_wal_insert_lsn() AS lsn');
      const reached = `SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS reached`;
      while (!(await onReplica(reached))[0].reached) await new Promise(setImmediate);
    },
    killReplica: () => kill(replica),
    startReplica,
  };
}

function copyStandby({ primary, replica }: { primary: string; replica: string }, connection: string): void {
  cpSync(primary, replica, { recursive: true });
  chmodSync(replica, 0o700);
  writeFileSync(join(replica, 'standby.signal'), '');
  writeFileSync(join(replica, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
  const { uid, gid } = statSync(primary);
  const entries = readdirSync(replica, { recursive: true }).map((name) => join(replica, String(name)));
  for (const path of [replica, ...entries]) chownSync(path, uid, gid);
}

/** The package keeps it to itself. */
function processOf(server: object): ChildProcess {
  return (server as { process: ChildProcess }).process;
}

async function kill(server: object): Promise<void> {
  const postmaster = processOf(server);
  const { promise, resolve: ended } = Promise.withResolvers<void>();
  postmaster.once('exit', () => ended());
  postmaster.kill('SIGKILL');
  await promise;
}

async function answers(connectionString: string): Promise<boolean> {
  try {
    await ask(connectionString, 'SELECT 1');
    return true;
  } catch {
    return false;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever is asked
async function ask(connectionString: string, sql: string): Promise<any[]> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
