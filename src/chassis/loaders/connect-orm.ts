import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { environment } from '../config/environment.ts';
import { prismaDirectory } from '../config/layout.ts';
import { applyMigrations } from '../database/migrations.ts';
import { closeOrm, databaseProvider, openOrm, orm } from '../database/orm.ts';
import { logger } from '../telemetry/logger.ts';

/**
 * Creates the ORM client for DATABASE_URL, opens the connection and logs the status (spec.md: Loaders). Where
 * DATABASE_MIGRATE and DATABASE_SEED say so, applies migrations and fills an empty database with sample data.
 *
 * @throws the failure, after logging it; the process is expected to exit with code 1 (spec.md: Handling, rule 6)
 */
export async function connectOrm(): Promise<void> {
  const settings = environment();
  try {
    await openOrm(settings);
    if (settings.DATABASE_MIGRATE) {
      const applied = await applyMigrations(settings);
      if (applied.length > 0) logger().info({ applied }, 'migrations applied');
    }
    if (settings.DATABASE_SEED !== 'none') await seedDatabase(settings.DATABASE_SEED);
    logger().info({ provider: databaseProvider() }, 'database connected');
  } catch (error) {
    logger().fatal({ err: error }, 'database connection failed');
    await closeOrm();
    throw error;
  }
}

/** Sample data belongs to the service, not to the chassis: it is found by its place, like a module. */
async function seedDatabase(size: 'small' | 'full'): Promise<void> {
  const { seed } = await import(pathToFileURL(join(prismaDirectory, 'seed.ts')).href);
  await seed(orm(), { size });
}
