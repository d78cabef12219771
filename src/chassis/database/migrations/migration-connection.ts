import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import {
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { DatabaseError, Pool } from 'pg';
import { connectPostgresql } from '../client/connect-postgresql.ts';
import type { DatabaseTarget } from '../client/database-url.ts';
import { type SqliteClient, untilFree, untilWritable } from '../sqlite/sqlite-waiting.ts';

type Factory = SqlMigrationAwareDriverAdapterFactory;
type Target<P> = Extract<DatabaseTarget, { provider: P }>;

/** How long a migration waits for another process that migrates the same database. */
export const migrationWaitMs = 60_000;

/** Runs `work` on a connection that is meant for changing the schema, and closes it. */
export function withMigrationConnection<T>(target: DatabaseTarget, work: (factory: Factory) => Promise<T>): Promise<T> {
  return target.provider === 'sqlite' ? onSqlite(target, work) : onPostgresql(target, work);
}

/** One connection, because the engine's lock belongs to a session; and no time limit on what a migration may take. */
async function onPostgresql<T>(target: Target<'postgresql'>, work: (factory: Factory) => Promise<T>): Promise<T> {
  const { adapter, pool } = connectPostgresql(target, { max: 1, connectionTimeoutMillis: 10_000 });
  // A connection that breaks while it is idle shows at its next use.
  pool.on('error', () => undefined);
  try {
    if (target.schema) await pool.query(`CREATE SCHEMA IF NOT EXISTS "${target.schema}"`);
    return await work(new WholeScripts(adapter, pool));
  } finally {
    await pool.end();
  }
}

/**
 * The adapter, but for scripts: it would cut them at every semicolon, also at one in a text, a comment or a function, and
 * run the pieces by themselves. Sent as a whole, PostgreSQL runs a script in one transaction.
 */
class WholeScripts implements Factory {
  readonly provider = 'postgres';
  readonly adapterName: string;
  readonly #adapter: Factory;
  readonly #pool: Pool;

  constructor(adapter: Factory, pool: Pool) {
    this.adapterName = adapter.adapterName;
    this.#adapter = adapter;
    this.#pool = pool;
  }

  async connect(): Promise<SqlDriverAdapter> {
    const connection = await this.#adapter.connect();
    const executeScript = async (script: string) => {
      await this.#pool.query(script).catch(raiseForAdapter);
    };
    return Object.assign(connection, { executeScript });
  }

  connectToShadowDb(): Promise<SqlDriverAdapter> {
    return this.#adapter.connectToShadowDb();
  }
}

function raiseForAdapter(error: Error & Partial<DatabaseError>): never {
  const { message, code = 'N/A', severity = 'N/A', detail, column, hint } = error;
  throw new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint });
}

/**
 * One transaction around everything: a second process waits for it and then finds the work done, and a migration that
 * fails, or a process that dies, leaves the file as it was. Foreign keys cannot be switched off within a transaction, as
 * SQLite's rebuilding of tables needs, so they are off from the start and checked before the end.
 */
async function onSqlite<T>(target: Target<'sqlite'>, work: (factory: Factory) => Promise<T>): Promise<T> {
  mkdirSync(dirname(target.path), { recursive: true });
  const open = async () => new PrismaLibSql({ url: '' }).createClient({ url: sqliteUrl(target.path) });
  const client = await untilFree(open, migrationWaitMs);
  try {
    await untilFree(() => client.executeMultiple('PRAGMA journal_mode = WAL;'), migrationWaitMs);
    await client.execute('PRAGMA foreign_keys = OFF');
    await untilWritable(client, migrationWaitMs);
    const transaction = await client.transaction('write');
    try {
      const result = await work(new SameConnection(transaction as unknown as SqliteClient));
      await refuseBrokenReferences(transaction as unknown as SqliteClient);
      await transaction.commit();
      return result;
    } finally {
      transaction.close();
    }
  } finally {
    client.close();
  }
}

async function refuseBrokenReferences(client: SqliteClient): Promise<void> {
  const { rows } = await client.execute('PRAGMA foreign_key_check');
  const tables = [...new Set(rows.map((row) => row.table))];
  if (tables.length > 0) {
    throw new Error(
      `A migration leaves references to records that do not exist in ${tables.join(', ')}; nothing was changed. ` +
        'Correct the data or the migration, then migrate again.',
    );
  }
}

/** The adapter on a connection that is open already and stays open. */
class SameConnection extends PrismaLibSql {
  readonly #client: SqliteClient;

  constructor(client: SqliteClient) {
    super({ url: '' });
    this.#client = client;
  }

  override createClient(): SqliteClient {
    const client = this.#client;
    return {
      execute: client.execute.bind(client),
      executeMultiple: client.executeMultiple.bind(client),
      close: () => undefined,
    } as unknown as SqliteClient;
  }
}

/** The path of a file as the driver takes it in a URL. */
function sqliteUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`;
}
