import process from 'node:process';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../src/chassis/testing/postgres.ts';
import { adminToken } from '../support/clients.ts';
import { killSpawned } from '../support/spawn-service.ts';
import { databaseOutage, serviceOn } from './database-outage.ts';

// A server of its own: other tests could not go on beside these.
describe.skipIf(process.env['TEST_DATABASE_URL'])('a PostgreSQL', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await killSpawned();
    await postgres.stop();
  });

  // Ten seconds instead of three: node test/soak/database-outage.ts
  it('that is killed under load is answered with 503 at once, and with what it holds once it is back', {
    timeout: 90_000,
  }, async () => {
    const outage = await databaseOutage(postgres, 3000);
    expect(outage.wrong).toEqual([]);
    expect(outage.faults).toEqual([]);
    expect(outage).toMatchObject({ alive: true, lost: 0, code: 0 });
    expect(outage.refused).toBeGreaterThan(10);
    // The time-out for a connection is 2 s; what is beyond it is the machine's.
    expect(outage.slowestMs).toBeLessThan(5000);
    expect(outage.notReadyAfterMs).toBeLessThan(5000);
    expect(outage.readyAfterMs).toBeLessThan(5000);
  });

  it('that becomes read-only by ALTER SYSTEM is answered with 503 for writes and readiness, until it is reset', {
    timeout: 60_000,
  }, async () => {
    const database = await postgres.createDatabase('told');
    const service = serviceOn(database);
    const { url, internalUrl } = await service.ready();
    const headers = { Authorization: `Bearer ${await adminToken(url)}`, 'Content-Type': 'application/json' };
    const write = async () => {
      const body = JSON.stringify({ name: `told ${Math.random()}` });
      return (await fetch(`${url}/api/v1/categories`, { method: 'POST', headers, body })).status;
    };
    const statuses = async () => [
      (await fetch(`${internalUrl}/readyz`)).status,
      ...(await Promise.all([write(), write(), write()])),
    ];
    const admin = new Client({ connectionString: database });
    await admin.connect();
    const tell = async (statement: string) => {
      await admin.query('SET default_transaction_read_only = off');
      await admin.query(statement);
      await admin.query('SELECT pg_reload_conf()');
    };
    expect(await statuses()).toEqual([200, 201, 201, 201]);
    await tell('ALTER SYSTEM SET default_transaction_read_only = on');
    await expect.poll(statuses, { timeout: 10_000 }).toEqual([503, 503, 503, 503]);
    expect((await fetch(`${url}/api/v1/categories`)).status).toBe(200);
    await tell('ALTER SYSTEM RESET default_transaction_read_only');
    await expect.poll(statuses, { timeout: 10_000 }).toEqual([200, 201, 201, 201]);
    await admin.end();
    await service.end();
  });
});
