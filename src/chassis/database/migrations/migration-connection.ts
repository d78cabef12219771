import {
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { DatabaseError, Pool } from 'pg';
import { connectPostgresql } from '../client/connect-postgresql.ts';
import type { DatabaseTarget } from '../client/database-url.ts';

type Factory = SqlMigrationAwareDriverAdapterFactory;
type Target = Extract<DatabaseTarget, { provider: 'postgresql' }>;

/** How long a migration waits for another process that migrates the same database. */
export const migrationWaitMs = 60_000;

/** Runs `work` on a connection that is meant for changing the schema, and closes it. */
export async function withMigrationConnection<T>(
  target: DatabaseTarget,
  work: (factory: Factory) => Promise<T>,
): Promise<T> {
  if (target.provider === 'postgresql') return onPostgresql(target, work);
  // Its driver is loaded where it is used only.
  const { migrateSqlite } = await import('./migrate-sqlite.ts');
  return migrateSqlite(target.path, work, migrationWaitMs);
}

/** One connection, because the engine's lock belongs to a session; and no time limit on what a migration may take. */
async function onPostgresql<T>(target: Target, work: (factory: Factory) => Promise<T>): Promise<T> {
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
