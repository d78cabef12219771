import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { defaultModulesDirectory, sourceExtension } from '../config/layout.ts';
import { parseDatabaseUrl } from '../database/client/database-url.ts';
import type { DatabaseSettings } from '../database/client/orm.ts';

/** How long indexes that are built beside the work are waited for, in milliseconds. */
const upkeepWaitMs = 60_000;

/** How often it is looked whether the indexes of a new version of pg-boss are there. */
const lookEveryMs = 250;

/**
 * Makes the tables of jobs, or brings them up to date, where a module has a jobs file: those of pg-boss on PostgreSQL, one
 * table on SQLite. It is part of migrating, so that a service needs no right to change the schema. Several processes may
 * call it at once; what is up to date stays as it is.
 *
 * @param modulesDirectory of the modules that are asked, enabled or not
 * @returns whether there are jobs
 */
export async function installJobs(
  { DATABASE_URL: url }: Pick<DatabaseSettings, 'DATABASE_URL'>,
  modulesDirectory = defaultModulesDirectory,
): Promise<boolean> {
  if (!hasJobs(modulesDirectory)) return false;
  const target = parseDatabaseUrl(url);
  // Loaded only where there are jobs, as is what they load.
  if (target.provider === 'sqlite') {
    const { withMigrationConnection } = await import('../database/migrations/migration-connection.ts');
    const { sqliteJobTables } = await import('./sqlite-tables.ts');
    await withMigrationConnection(target, async (factory) => (await factory.connect()).executeScript(sqliteJobTables));
    return true;
  }
  const { connectPostgresql } = await import('../database/client/connect-postgresql.ts');
  const { pool } = connectPostgresql(target, { max: 2, connectionTimeoutMillis: 10_000 });
  try {
    await installBoss(pool, url);
  } finally {
    await pool.end();
  }
  return true;
}

function hasJobs(directory: string): boolean {
  if (!existsSync(directory)) return false;
  const files = readdirSync(directory, { recursive: true }) as string[];
  return files.some((file) => file.endsWith(`.jobs${sourceExtension}`) || file.endsWith(`.events${sourceExtension}`));
}

async function installBoss(pool: Pool, url: string): Promise<void> {
  const { PgBoss } = await import('pg-boss');
  const { bossOptions, postgresTarget } = await import('./pg-boss-database.ts');
  const boss = new PgBoss({ ...bossOptions(pool, postgresTarget(url)), migrate: true });
  const failures: unknown[] = [];
  boss.on('error', (error) => failures.push(error));
  await boss.start();
  try {
    // A new version may build indexes beside the work, which would never be finished later.
    for (const deadline = Date.now() + upkeepWaitMs; Date.now() < deadline; await wait(lookEveryMs)) {
      const states = await boss.getBamStatus();
      if (!states.some(({ status }) => status === 'pending' || status === 'in_progress')) break;
    }
  } finally {
    await boss.stop({ graceful: false });
  }
  if (failures.length > 0) throw failures[0];
}
