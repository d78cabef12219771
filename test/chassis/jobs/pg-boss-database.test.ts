import { Pool } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { bossOptions, postgresTarget } from '../../../src/chassis/jobs/pg-boss-database.ts';
import { emptyDatabase } from '../../support/empty-database.ts';

it('closes a connection on which a statement got no answer, and keeps one whose statement failed', async () => {
  const { settings, remove } = await emptyDatabase('postgresql');
  const pool = new Pool({ connectionString: settings.DATABASE_URL, query_timeout: 200 });
  onTestFinished(async () => {
    await pool.end();
    await remove();
  });
  const { db } = bossOptions(pool, postgresTarget(settings.DATABASE_URL));
  await expect(db?.executeSql('SELECT 1 / 0')).rejects.toThrow('division by zero');
  expect(pool.totalCount).toBe(1);
  await expect(db?.executeSql('SELECT pg_sleep(2)')).rejects.toThrow('Query read timeout');
  expect(pool.totalCount).toBe(0);
  await expect(db?.executeSql('BEGIN; SELECT 1 / 0; COMMIT')).rejects.toThrow('division by zero');
  expect(pool.totalCount).toBe(0);
});
