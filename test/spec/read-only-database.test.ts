import { expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { onServer } from '../support/empty-database.ts';

const app = await bootTestApp();
const { database } = app.service;

/** Makes the database refuse every write, or allow them again, as a server or a file system does. */
async function setReadOnly(readOnly: boolean): Promise<void> {
  const client = database.client;
  if (database.provider === 'sqlite') {
    await client.$queryRawUnsafe(`PRAGMA query_only = ${readOnly ? 'ON' : 'OFF'}`);
    return;
  }
  const [row] = await client.$queryRawUnsafe<{ name: string }[]>('SELECT current_database()::text AS name');
  await onServer(`ALTER DATABASE ${row?.name} SET default_transaction_read_only = ${readOnly ? 'on' : 'off'}`);
  await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${row?.name}'`);
  await expect.poll(async () => database.pool?.totalCount).toBe(0);
}

const ready = async () => (await app.get('/readyz')).status;

it('answers writes to a read-only database with 503 and Retry-After, serves reads, and is not ready until it can write', async () => {
  const write = () => app.as('admin').post('/api/v1/categories', { name: `Garden ${Math.random()}` });
  await write().expectData(201);
  await setReadOnly(true);
  const refused = await write();
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect((await app.get('/api/v1/categories')).status).toBe(200);
  await expect.poll(ready, { timeout: 5000 }).toBe(503);
  await setReadOnly(false);
  await expect.poll(ready, { timeout: 5000 }).toBe(200);
  await write().expectData(201);
});

it('tells readiness to everybody alike, whatever deadline a probe brings', async () => {
  // The answer is kept for a second, unless the service changes.
  app.service.health.enter('serving');
  const headers = { 'X-Request-Deadline': '2000-01-01T00:00:00Z' };
  const [late, other] = [await fetch(`${app.url}/readyz`, { headers }), await fetch(`${app.internalUrl}/readyz`)];
  expect([late.status, other.status]).toEqual([200, 200]);
});
