import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { withoutPgbouncer } from '../../load-tests/servers/pgbouncer.ts';
import { skipped } from '../chart/chart.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { admin, failedChecks, measureScenario } from './run-scenario.ts';

const missing = skipped('k6') || withoutPgbouncer;
const serverConnections = 4;

describe.skipIf(missing)(`two pods behind a pgbouncer in transaction mode${missing}`, () => {
  it('keep the contract under load, with fewer connections to PostgreSQL than their pools have', async () => {
    const first = await bootTestApp({ provider: 'postgresql' });
    const direct = first.service.settings.DATABASE_URL;
    const before = await backends(direct);
    const env = { DATABASE_URL: await startPgbouncer(direct, serverConnections), RATE_LIMIT_ENABLED: 'false' };
    const pods = await Promise.all([
      bootTestApp({ provider: 'postgresql', env }),
      bootTestApp({ provider: 'postgresql', env }),
    ]);
    const runs = await Promise.all([
      measureScenario('day', pods[0]?.url ?? '', { ...admin, PROFILE: 'closed-32', DURATION: '2s' }),
      measureScenario('write-mix', pods[1]?.url ?? '', { ...admin, PROFILE: 'closed-32', DURATION: '2s' }),
    ]);
    for (const run of runs) {
      expect(failedChecks(run), run.said).toEqual([]);
      expect(run.failed - run.refused, run.said).toBe(0);
      expect(run.requests).toBeGreaterThan(20);
    }
    // pgbouncer keeps those that it opened.
    expect(await backends(direct)).toBeLessThanOrEqual(before + serverConnections);
  });
});

/** Connections to the database, other than that of who asks. */
async function backends(connectionString: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  const { rows } = await client.query(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name <> '' AND pid <> pg_backend_pid()",
  );
  await client.end();
  return rows[0].n;
}
