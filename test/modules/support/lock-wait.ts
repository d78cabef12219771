import process from 'node:process';
import { Client } from 'pg';
import { expect } from 'vitest';
import type { TestApp } from './boot-test-app.ts';

/**
 * Waits until a statement of the service waits for what another one has locked. On SQLite at once: all that is asked for there
 * waits for the unit of work under way.
 */
export async function untilLockWait(app: TestApp): Promise<void> {
  if (process.env.TEST_PROVIDER !== 'postgresql') return;
  const client = new Client({ connectionString: app.service.settings.DATABASE_URL });
  await client.connect();
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  try {
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
  } finally {
    await client.end();
  }
}
