import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../../src/chassis/database/migrations/apply-migrations.ts';
import { installJobs } from '../../../src/chassis/jobs/install-jobs.ts';
import { SqliteStore } from '../../../src/chassis/jobs/sqlite-store.ts';
import { emptyDatabase } from '../../support/empty-database.ts';

const queue = { name: 'work', policy: 'standard', attempts: 2, backoffMs: 0, expiryMs: 60_000 } as const;

/** A store whose leases are over as soon as they begin, as those of a process that was killed a while ago. */
async function storeOfTheDead() {
  const { settings, remove } = await emptyDatabase('sqlite');
  await applyMigrations(settings);
  await installJobs(settings, join(import.meta.dirname, '../../fixtures/modules-jobs'));
  const { client, close } = await openDatabase(settings);
  onTestFinished(async () => {
    await close();
    await remove();
  });
  const store = new SqliteStore({ client, leaseSeconds: -1 });
  await store.open([queue]);
  return store;
}

it('gives the job of a process that died to the next one, as often as the job may be tried', async () => {
  const store = await storeOfTheDead();
  await store.store('work', [{ data: 'heavy' }]);
  for (const attempt of [1, 2]) {
    const [job] = await store.take('work', 1);
    expect(job).toMatchObject({ attempt, data: 'heavy' });
    await store.recover();
  }
  expect(await store.take('work', 1)).toEqual([]);
  expect(await store.revive('work')).toBe(1);
});

it('takes no word of a process whose job has gone to another', async () => {
  const store = await storeOfTheDead();
  await store.store('work', [{ data: 'long' }]);
  const [first] = await store.take('work', 1);
  await store.recover();
  const [second] = await store.take('work', 1);
  expect(second?.attempt).toBe(2);
  if (first) await store.complete(first);
  await store.recover();
  expect(await store.revive('work')).toBe(1);
});
