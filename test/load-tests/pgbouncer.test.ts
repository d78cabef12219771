import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { skipped } from '../chart/chart.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { startPgbouncer, withoutPgbouncer } from '../support/pgbouncer.ts';
import { admin, failedChecks, measureScenario } from './run-scenario.ts';

const missing = skipped('k6') || withoutPgbouncer;
const serverConnections = 4;

describe.skipIf(missing)(`two pods behind a pgbouncer in transaction mode${missing}`, () => {
  let pods: TestApp[];
  let direct: string;
  let before: number;

  beforeAll(async () => {
    const first = await bootTestApp({ provider: 'postgresql' });
    direct = first.service.settings.DATABASE_URL;
    before = await backends();
    const env = { DATABASE_URL: await startPgbouncer(direct, serverConnections), RATE_LIMIT_ENABLED: 'false' };
    pods = await Promise.all([
      bootTestApp({ provider: 'postgresql', env }),
      bootTestApp({ provider: 'postgresql', env }),
    ]);
  });

  /** Connections to the database, other than that of who asks. */
  async function backends(): Promise<number> {
    const client = new Client({ connectionString: direct });
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name <> '' AND pid <> pg_backend_pid()",
    );
    await client.end();
    return rows[0].n;
  }

  it('keep the contract under load, with fewer connections to PostgreSQL than their pools have', async () => {
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
    expect(await backends()).toBeLessThanOrEqual(before + serverConnections);
  });
});
