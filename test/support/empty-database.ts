import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Client } from 'pg';
import { inject } from 'vitest';
import { isPostgresqlOnly } from '../../src/chassis/config/layout.ts';
import type { DatabaseProvider } from '../../src/chassis/database/client/database-url.ts';
import {
  type DatabaseSettings,
  type OpenDatabaseOptions,
  type OpenOrm,
  openDatabase,
} from '../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../src/chassis/database/migrations/apply-migrations.ts';

/** The databases of the service, for `describe.each`: both, unless it is for PostgreSQL only. */
export const databaseProviders: readonly DatabaseProvider[] = isPostgresqlOnly()
  ? ['postgresql']
  : ['sqlite', 'postgresql'];

/** The database that a test takes which runs on one only: SQLite, unless the service is for PostgreSQL only. */
export const anyProvider: DatabaseProvider = isPostgresqlOnly() ? 'postgresql' : 'sqlite';

/** A database without tables or records, and what belongs to it. */
export interface EmptyDatabase {
  settings: DatabaseSettings;
  remove(): Promise<void>;
}

let made = 0;

/** Makes an empty database without tables. */
export async function emptyDatabase(
  provider: DatabaseProvider,
  more?: Partial<DatabaseSettings>,
): Promise<EmptyDatabase> {
  return provider === 'sqlite' ? emptyFile(more) : emptyOnServer(more);
}

/** Opens a migrated database without records; `close` removes it too. */
export async function openEmptyDatabase(
  provider: DatabaseProvider,
  more?: Partial<DatabaseSettings>,
  options?: OpenDatabaseOptions,
): Promise<OpenOrm & { settings: DatabaseSettings }> {
  const { settings, remove } = await emptyDatabase(provider, more);
  await applyMigrations(settings);
  const open = await openDatabase(settings, options);
  const close = async () => {
    await open.close();
    await remove();
  };
  return { ...open, close, settings };
}

/** Settings of a database as they are by default. */
export function databaseSettings(url: string, more?: Partial<DatabaseSettings>): DatabaseSettings {
  return {
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: 10,
    DATABASE_ACQUIRE_TIMEOUT_MS: 2000,
    DATABASE_STATEMENT_TIMEOUT_MS: 10_000,
    DATABASE_IDLE_TIMEOUT_MS: 30_000,
    DATABASE_JSON_READS: true,
    ...more,
  };
}

async function emptyFile(more: Partial<DatabaseSettings> | undefined): Promise<EmptyDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-empty-'));
  const settings = databaseSettings(`file:${join(directory, 'test.db')}`, more);
  return { settings, remove: async () => rmSync(directory, { recursive: true, force: true }) };
}

async function emptyOnServer(more: Partial<DatabaseSettings> | undefined): Promise<EmptyDatabase> {
  made += 1;
  const name = `slipway_empty_${process.pid}_${made}`;
  const url = new URL(inject('postgresUrl'));
  await onServer(`CREATE DATABASE ${name} TEMPLATE template0`);
  url.pathname = `/${name}`;
  return {
    settings: databaseSettings(url.href, more),
    remove: async () => void (await onServer(`DROP DATABASE ${name} WITH (FORCE)`)),
  };
}

/** Runs one statement as the server's administrator. */
export async function onServer(statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    const { rows } = await client.query(statement);
    return rows;
  } finally {
    await client.end();
  }
}
