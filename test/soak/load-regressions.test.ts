import { beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../load-tests/lib/run-summary.ts';
import { compareRuns } from '../../load-tests/run/compare-runs.ts';
import { seed } from '../../prisma/seed.ts';
import { skipped } from '../chart/chart.ts';
import { measureScenario } from '../load-tests/run-scenario.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';

const app = (
  skipped('k6') ? undefined : await bootTestApp({ provider: 'postgresql', env: { RATE_LIMIT_ENABLED: 'false' } })
) as TestApp;

describe.skipIf(skipped('k6'))(`a load test of 100,000 products on PostgreSQL${skipped('k6')}`, () => {
  beforeAll(async () => {
    await seed(app.orm, { size: 'full', accounts: true, progress: () => undefined });
    await app.orm.$executeRawUnsafe('ANALYZE products');
  }, 240_000);

  function measure(): Promise<RunSummary> {
    return measureScenario('list-filtered-narrow', app.url, { DURATION: '10s', RATE: '20' });
  }

  it('finds an index that was dropped, and nothing where nothing changed', { timeout: 120_000 }, async () => {
    // The first run finds code that was never run.
    await measure();
    const before = await measure();
    const same = compareRuns([before], [await measure()], 2);
    expect(same.filter(({ verdict }) => verdict === 'regression')).toEqual([]);
    await app.orm.$executeRawUnsafe('DROP INDEX products_sku_key');
    const after = compareRuns([before], [await measure()], 2);
    expect(after.find(({ measure }) => measure === 'median ms')?.verdict).toBe('regression');
  });
});
