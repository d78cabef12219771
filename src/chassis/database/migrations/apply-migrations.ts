import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { type DatabaseProvider, type DatabaseTarget, parseDatabaseUrl } from '../client/database-url.ts';
import type { DatabaseSettings } from '../client/orm.ts';
import { migrationWaitMs, withMigrationConnection } from './migration-connection.ts';
import { isLocked, migrationError } from './migration-error.ts';
import { migrationList, migrationNames, migrationsDirectory } from './migration-files.ts';
import { appliedSql, emptyWithoutTable, namesWithout } from './pending-migrations.ts';
import { schemaFilters, withSchemaEngine } from './schema-engine.ts';

type Settings = Pick<DatabaseSettings, 'DATABASE_URL'>;

/**
 * Applies all migrations that the database lacks, oldest first, and returns their names. Several processes may call it
 * at once: one does the work, the others wait for it, at most 60 s. On SQLite all are applied or none; on PostgreSQL those
 * before a failing one stay applied. Prisma's own engine does it and keeps its record in `_prisma_migrations`.
 *
 * @throws MigrationError when one cannot be applied
 */
export async function applyMigrations(settings: Settings, directory = migrationsDirectory): Promise<string[]> {
  const target = parseDatabaseUrl(settings.DATABASE_URL);
  const names = migrationNames(target.provider, directory);
  if (names.length === 0) return [];
  try {
    return await untilUnlocked(async () => {
      if ((await pendingOn(target, names)).length === 0) return [];
      return withMigrationConnection(target, (factory) => apply(target, factory, directory));
    });
  } catch (error) {
    throw await migrationError(error, target);
  }
}

async function apply(
  { provider }: { provider: DatabaseProvider },
  factory: SqlMigrationAwareDriverAdapterFactory,
  directory: string,
): Promise<string[]> {
  const migrationsList = migrationList(provider, directory);
  return withSchemaEngine(provider, factory, async (engine) => {
    const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: schemaFilters });
    return appliedMigrationNames;
  });
}

async function pendingOn(target: DatabaseTarget, names: readonly string[]): Promise<string[]> {
  return withMigrationConnection(target, async (factory) => {
    const adapter = await factory.connect();
    const rows = await emptyWithoutTable(async () => {
      const result = await adapter.queryRaw({ sql: appliedSql, args: [], argTypes: [] });
      return result.rows;
    });
    return namesWithout(
      names,
      rows.map(([name]) => String(name)),
    );
  });
}

async function untilUnlocked<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + migrationWaitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || Date.now() > deadline) throw error;
    }
  }
}
