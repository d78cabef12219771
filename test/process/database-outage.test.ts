import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../support/postgres.ts';
import { killSpawned } from '../support/spawn-service.ts';
import { databaseOutage } from './database-outage.ts';

afterAll(killSpawned);

// Ten seconds instead of three: node test/process/database-outage.ts
describe.skipIf(process.env['TEST_DATABASE_URL'])('PostgreSQL killed under load', () => {
  it('is answered with 503 at once, and with what it holds once it is back', { timeout: 90_000 }, async () => {
    const postgres = await startPostgres();
    const outage = await databaseOutage(postgres, 3000);
    await postgres.stop();
    expect(outage.wrong).toEqual([]);
    expect(outage.faults).toEqual([]);
    expect(outage).toMatchObject({ alive: true, lost: 0, code: 0 });
    expect(outage.refused).toBeGreaterThan(10);
    // The time-out for a connection is 2 s; what is beyond it is the machine's.
    expect(outage.slowestMs).toBeLessThan(5000);
    expect(outage.notReadyAfterMs).toBeLessThan(5000);
    expect(outage.readyAfterMs).toBeLessThan(5000);
  });
});
