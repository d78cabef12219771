import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Client } from 'pg';
import { inject } from 'vitest';
import { isPostgresqlOnly } from '../config/layout.ts';
import type { DatabaseProvider } from '../database/client/database-url.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated database; each booted service copies it. */
    sqliteTemplate: string;
    /** URL of the PostgreSQL server's maintenance database. */
    postgresUrl: string;
    postgresTemplate: string;
  }
}

/** A database of one's own: a copy of the template that the tests' set-up made, removed by `remove`. */
export interface TestDatabase {
  url: string;
  remove(): Promise<void>;
}

let made = 0;

/** Makes a database on a provider: by default the one that TEST_PROVIDER names, else SQLite if the service has it. */
export function createTestDatabase(
  provider = (process.env.TEST_PROVIDER as DatabaseProvider | undefined) ??
    (isPostgresqlOnly() ? 'postgresql' : 'sqlite'),
): Promise<TestDatabase> {
  return provider === 'postgresql' ? createPostgresqlDatabase() : createSqliteDatabase();
}

async function createSqliteDatabase(): Promise<TestDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-db-'));
  const file = join(directory, 'test.db');
  copyFileSync(inject('sqliteTemplate'), file);
  return { url: `file:${file}`, remove: async () => rmSync(directory, { recursive: true, force: true }) };
}

async function createPostgresqlDatabase(): Promise<TestDatabase> {
  const name = `slipway_test_${process.pid}_${++made}`;
  const url = new URL(inject('postgresUrl'));
  await administer(`CREATE DATABASE ${name} TEMPLATE ${inject('postgresTemplate')}`);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => administer(`DROP DATABASE ${name} WITH (FORCE)`) };
}

async function administer(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
