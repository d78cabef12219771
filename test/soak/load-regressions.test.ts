import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../load-tests/lib/run-summary.ts';
import { compareRuns } from '../../load-tests/run/compare-runs.ts';
import { seed } from '../../prisma/seed.ts';
import { skipped } from '../chart/chart.ts';
import { type PlantedFault, startProxy } from '../load-tests/load-proxy.ts';
import { admin, failedChecks, measureScenario } from '../load-tests/run-scenario.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { startReplicatedPostgres } from '../support/replicated-postgres.ts';

const unlimited = { RATE_LIMIT_ENABLED: 'false' };
const app = (skipped('k6') ? undefined : await bootTestApp({ provider: 'postgresql', env: unlimited })) as TestApp;

describe.skipIf(skipped('k6'))(`a load test of 100,000 products on PostgreSQL${skipped('k6')}`, () => {
  beforeAll(async () => {
    await seed(app.orm, { size: 'full', accounts: true, progress: () => undefined });
    await app.orm.$executeRawUnsafe('ANALYZE products');
  }, 240_000);

  /** Both runs that are compared go through a proxy, so that only the fault is between them. */
  async function measure(
    scenario: string,
    fault: PlantedFault = {},
    { duration = '10s', rate = 20 } = {},
  ): Promise<RunSummary> {
    await using proxy = await startProxy(app.url, fault);
    return await measureScenario(scenario, proxy.url, { DURATION: duration, RATE: String(rate) });
  }

  const regressions = (before: RunSummary, after: RunSummary) =>
    compareRuns(before, after, 2).flatMap(({ measure, verdict }) => (verdict === 'regression' ? [measure] : []));

  it('finds 20 ms of sleep and a page of double size, and nothing where nothing changed', async () => {
    // The first run finds code that was never run.
    await measure('list-shallow');
    const before = await measure('list-shallow');
    expect(regressions(before, await measure('list-shallow'))).toEqual([]);
    expect(regressions(before, await measure('list-shallow', { wait: 20 }))).toContain('median ms');
    const doubled = regressions(before, await measure('list-shallow', { ask: doublePage }));
    expect(doubled).toEqual(expect.arrayContaining(['bytes/request', 'checks failed']));
  }, 180_000);

  it('finds that every fiftieth request waits, which neither the median nor p95 tells', async () => {
    const often = { rate: 120 };
    let count = 0;
    const everyFiftieth = () => {
      count += 1;
      return count % 50 === 0 ? 300 : 0;
    };
    await measure('read-one', {}, often);
    const before = await measure('read-one', {}, often);
    expect(regressions(before, await measure('read-one', { wait: everyFiftieth }, often))).toEqual(['p99 ms']);
  }, 120_000);

  it('finds a record on two pages, because others write at the front of the list', async () => {
    const stopped = new AbortController();
    const writing = insertInFront(app, stopped.signal);
    const run = await measure('list-shallow', {}, { duration: '5s' }).finally(() => stopped.abort());
    await writing;
    expect(failedChecks(run)).toEqual(expect.arrayContaining(['no record twice across pages', 'totals agree']));
  }, 60_000);

  it('finds an index that was dropped', async () => {
    await measure('list-filtered-narrow');
    const before = await measure('list-filtered-narrow');
    await app.orm.$executeRawUnsafe('DROP INDEX products_sku_key');
    expect(regressions(before, await measure('list-filtered-narrow'))).toContain('median ms');
  }, 120_000);
});

describe.skipIf(skipped('k6'))(`a load test of a service that reads a stale replica${skipped('k6')}`, () => {
  it('finds that a client does not read what it wrote', async () => {
    const servers = await startReplicatedPostgres();
    await servers.create('stale');
    const boot = (DATABASE_URL: string, env = {}) =>
      bootTestApp({ provider: 'postgresql', env: { ...unlimited, DATABASE_URL, ...env } });
    const pod = await boot(servers.primary('stale'), { DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small' });
    await servers.settle();
    const reader = await boot(`${servers.replica('stale')}?target_session_attrs=any`);
    /** As where a proxy sends lists to a pod of the replica, whatever it has replayed. */
    const toReader = (url: URL) => {
      if (url.pathname.endsWith('/paginated')) url.host = new URL(reader.url).host;
    };
    await using proxy = await startProxy(pod.url, { ask: toReader });
    const measure = () => measureScenario('write-mix', proxy.url, { ...admin, DURATION: '3s' });
    await servers.pause();
    const stale = await measure();
    await servers.resume();
    expect(failedChecks(stale), stale.said).toEqual(['a list has what its client wrote']);
  }, 120_000);
});

function doublePage(url: URL): void {
  if (!url.pathname.endsWith('/paginated')) return;
  const size = Number(url.searchParams.get('pageSize') ?? 10);
  url.searchParams.set('pageSize', String(Math.min(100, 2 * size)));
}

/** Stores products whose ids come before all others, so that each moves the records of every page. */
async function insertInFront({ orm }: TestApp, stopped: AbortSignal): Promise<void> {
  const { id: _, ...first } = await orm.product.findFirstOrThrow();
  for (let number = 0; !stopped.aborted; number += 1) {
    const id = `00000000-0000-4000-8000-${(1_000_000 - number).toString(16).padStart(12, '0')}`;
    await orm.product.create({ data: { ...first, id, sku: `FRONT-${number}` } });
    await delay(5);
  }
}
