import { chmodSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestProject } from 'vitest/node';
import { readEnvironment } from '../config/environment.ts';
import { isPostgresqlOnly } from '../config/layout.ts';
import { openDatabase } from '../database/client/orm.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { applyMigrations } from '../database/migrations/apply-migrations.ts';
import { installJobs } from '../jobs/install-jobs.ts';
import { startPostgres } from './postgres.ts';
import type {} from './test-database.ts';

const templateName = `slipway_template_${process.pid}`;

/**
 * Brings a PostgreSQL server along and makes one migrated template for each database, of which tests get copies.
 *
 * @param fill stores what every copy holds. Default: nothing
 * @param modulesDirectory of the modules whose jobs get their tables. Default: those of the service
 * @returns what ends the server and removes what tests left behind
 */
export async function templateDatabases(
  { provide }: Pick<TestProject, 'provide'>,
  fill?: (orm: OrmClient) => Promise<unknown>,
  modulesDirectory?: string,
): Promise<() => Promise<void>> {
  const prepare = (url: string) => prepared(url, fill, modulesDirectory);
  const directory = await mkdtemp(join(tmpdir(), 'slipway-test-'));
  const postgres = await startPostgres();
  // What tests leave behind, also those that fail, goes with the folder. A server that a test starts is of another user.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  const sqliteTemplate = join(directory, 'template.db');
  if (!isPostgresqlOnly()) await prepare(`file:${sqliteTemplate}`);
  await prepare(await postgres.createDatabase(templateName));
  provide('sqliteTemplate', sqliteTemplate);
  provide('postgresTemplate', templateName);
  provide('postgresUrl', postgres.url('postgres'));
  return async () => {
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}

async function prepared(
  url: string,
  fill?: (orm: OrmClient) => Promise<unknown>,
  modulesDirectory?: string,
): Promise<void> {
  const settings = readEnvironment({}, { NODE_ENV: 'test', DATABASE_URL: url });
  await applyMigrations(settings);
  await installJobs(settings, modulesDirectory);
  const { client, close } = await openDatabase(settings);
  await fill?.(client);
  // A copy of the file alone must hold everything.
  if (url.startsWith('file:')) await client.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)');
  await close();
}
