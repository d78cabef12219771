import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { databaseProgram, importFile } from '../config/layout.ts';
import { hasDatabase } from '../config/settings/database-url-problem.ts';
import { currentService } from '../context/current-service.ts';
import { withoutScopes } from '../context/run-as.ts';
import { isUnreachable } from '../database/client/is-unreachable.ts';
import { modelsLackMigration } from '../database/migrations/migration-files.ts';
import { installJobs } from '../jobs/install-jobs.ts';
import { noteLogged } from '../lifecycle/process-guards.ts';
import type { Service } from '../service.ts';
import type { Logger } from '../telemetry/logger.ts';

const firstPauseMs = 100;
const longestPauseMs = 2000;

/**
 * Creates the ORM client for DATABASE_URL, opens the connection and logs the status (spec.md: Loaders). A database that
 * cannot be reached is waited for, up to DATABASE_CONNECT_TIMEOUT_MS; one that refuses the password is not. Where
 * DATABASE_MIGRATE and DATABASE_SEED say so, applies migrations and fills an empty database with sample data. A service
 * whose DATABASE_URL is `none` has no database.
 *
 * @throws the failure, after logging it; the process is expected to exit with code 1 (spec.md: Handling, rule 6)
 */
export async function connectOrm(): Promise<void> {
  const service = currentService();
  const { closers, database, logger, settings, stopping } = service;
  if (!hasDatabase(settings.DATABASE_URL)) {
    logger.info('no database, because DATABASE_URL is none');
    return;
  }
  try {
    await openWhenReachable(service);
    closers.add('connectOrm', () => database.close());
    if (settings.NODE_ENV !== 'production') warnOfModels(logger);
    if (settings.DATABASE_MIGRATE) await migrate(service);
    await seedDatabase(service);
    service.startUpReport.step({ provider: database.provider }, 'database connected');
  } catch (error) {
    if (!stopping.aborted) logger.fatal({ err: error }, 'database connection failed');
    noteLogged(error);
    await database.close();
    throw error;
  }
}

/** Without its migration a changed model fails at the first query, far from the cause. */
function warnOfModels(logger: Logger): void {
  if (!modelsLackMigration()) return;
  const run = 'npm run db:migrate -- --create <name>';
  logger.warn({ run }, `prisma/models.prisma has changes that no migration makes: run ${run}`);
}

/** Loaded only where it is asked for, with the engine of five megabytes that it needs. */
async function migrate({ settings, logger, modulesDirectory }: Service): Promise<void> {
  const { applyMigrations } = await import('../database/migrations/apply-migrations.ts');
  const applied = await applyMigrations(settings);
  if (applied.length > 0) logger.info({ applied: applied.join(', ') }, 'migrations applied');
  await installJobs(settings, modulesDirectory);
}

/** The pauses grow and differ, so that many replicas do not fall upon a database in the moment that it is back. */
async function openWhenReachable({ database, logger, settings, stopping }: Service): Promise<void> {
  const deadline = performance.now() + settings.DATABASE_CONNECT_TIMEOUT_MS;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    try {
      return await database.open(settings);
    } catch (error) {
      stopping.throwIfAborted();
      const left = deadline - performance.now();
      if (left <= 0 || !isUnreachable(error)) throw error;
      const ms = Math.min(left, pause * (0.5 + Math.random() / 2));
      logger.warn({ reason: (error as Error).message, retryMs: Math.round(ms) }, 'waiting for the database');
      await pauseFor(ms, stopping);
    }
  }
}

async function pauseFor(ms: number, stopping: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal: stopping });
  } catch {
    // Only the signal ends a pause before its time.
    stopping.throwIfAborted();
  }
}

/** Sample data belongs to the service, not to the chassis: it is found by its place, like a module, if there is some. */
async function seedDatabase({ database, settings, startUpReport }: Service): Promise<void> {
  const { DATABASE_SEED: size, NODE_ENV } = settings;
  const program = databaseProgram('seed');
  if (size === 'none' || !existsSync(program)) return;
  const { seed, demoAccount } = await importFile(program);
  const accounts = NODE_ENV !== 'production';
  await withoutScopes('sample data', () => seed(database.client, { size, accounts, onlyWhenEmpty: true }));
  if (accounts && demoAccount !== undefined) startUpReport.notes.demoAccount = demoAccount;
}
