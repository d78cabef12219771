import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { type DatabaseTarget, parseDatabaseUrl } from '../client/database-url.ts';
import type { DatabaseSettings } from '../client/orm.ts';
import { withMigrationConnection } from './migration-connection.ts';
import { MigrationError, migrationError } from './migration-error.ts';
import { migrationList, migrationNames, migrationsDirectory } from './migration-files.ts';
import { withSchemaEngine } from './schema-engine.ts';

type Settings = Pick<DatabaseSettings, 'DATABASE_URL'>;

/** Where the engine keeps what was applied: for a note it makes that table on PostgreSQL only. */
const sqliteRecord = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL,
  "checksum" TEXT NOT NULL,
  "finished_at" DATETIME,
  "migration_name" TEXT NOT NULL,
  "logs" TEXT,
  "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
);`;

/**
 * Records that the failed migration `name` was undone, so that it is applied again. Only PostgreSQL keeps a failed
 * migration; SQLite undoes it by itself.
 *
 * @throws MigrationError where it has not failed, or the database cannot be reached
 */
export async function markRolledBack(settings: Settings, name: string): Promise<void> {
  await mark(parseDatabaseUrl(settings.DATABASE_URL), (engine) =>
    engine.markMigrationRolledBack({ migrationName: name }),
  );
}

/**
 * Records that the database has what the migration `name` makes, without running it: for a database that was there
 * before its migrations were.
 *
 * @throws MigrationError where there is no such migration, it is recorded already, or the database cannot be reached
 */
export async function markApplied(settings: Settings, name: string, directory = migrationsDirectory): Promise<void> {
  const target = parseDatabaseUrl(settings.DATABASE_URL);
  const names = migrationNames(target.provider, directory);
  if (!names.includes(name)) {
    throw new MigrationError(
      `There is no migration ${name} for ${target.provider}, only ${names.join(', ') || 'none'}.`,
    );
  }
  const migrationsList = migrationList(target.provider, directory);
  await mark(target, (engine) => engine.markMigrationApplied({ migrationName: name, migrationsList }));
}

async function mark(target: DatabaseTarget, note: (engine: SchemaEngine) => Promise<unknown>): Promise<void> {
  try {
    await withMigrationConnection(target, async (factory) => {
      if (target.provider === 'sqlite') await (await factory.connect()).executeScript(sqliteRecord);
      await withSchemaEngine(target.provider, factory, note);
    });
  } catch (error) {
    throw await migrationError(error, target);
  }
}
