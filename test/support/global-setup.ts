import { chmodSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestProject } from 'vitest/node';
import { build } from '../../scripts/build.ts';
import { readEnvironment } from '../../src/chassis/config/environment.ts';
import { isPostgresqlOnly } from '../../src/chassis/config/layout.ts';
import { openDatabase } from '../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../src/chassis/database/migrations/apply-migrations.ts';
import { installJobs } from '../../src/chassis/jobs/install-jobs.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Migrated and seeded; each test application copies it. */
    sqliteTemplate: string;
    /** URL of the PostgreSQL server's maintenance database. */
    postgresUrl: string;
    postgresTemplate: string;
  }
}

const builtForTests = join(import.meta.dirname, '../../dist-test');
const templateName = `slipway_template_${process.pid}`;

/** Builds the service, brings a PostgreSQL server along and makes one migrated, seeded template per database. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-test-'));
  const fixtures = ['test/fixtures/{deeds,observed,relay,trouble}/**/*.ts'];
  const [postgres] = await Promise.all([startPostgres(), build({ outDir: builtForTests, more: fixtures })]);
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

async function prepare(url: string): Promise<void> {
  const settings = readEnvironment({}, { NODE_ENV: 'test', DATABASE_URL: url });
  const { seed } = await import('../../prisma/seed.ts');
  await applyMigrations(settings);
  await installJobs(settings);
  const { client, close } = await openDatabase(settings);
  await seed(client, { size: 'small', accounts: true });
  // A copy of the file alone must hold everything.
  if (url.startsWith('file:')) await client.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)');
  await close();
}
