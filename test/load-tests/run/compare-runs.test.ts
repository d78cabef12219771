import { beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../load-tests/lib/run-summary.ts';
import { compareRuns, type Difference } from '../../../load-tests/run/compare-runs.ts';
import { differenceTable } from '../../../load-tests/run/difference-table.ts';
import { skipped } from '../../chart/chart.ts';
import { bootTestApp, type TestApp } from '../../support/boot-test-app.ts';
import { type PlantedFault, startProxy } from '../load-proxy.ts';
import { measureScenario } from '../run-scenario.ts';
import { measuredRun as run } from './measured-run.ts';

function regressions(before: RunSummary, after: RunSummary): string[] {
  return worse(compareRuns(before, after, 1.3));
}

function worse(differences: readonly Difference[]): string[] {
  return differences.filter(({ verdict }) => verdict === 'regression').map(({ measure }) => measure);
}

describe('compareRuns', () => {
  it('takes for the same what differs less than the tolerance, or than a machine does by itself', () => {
    expect(regressions(run, { ...run, median: 5, p95: 15 })).toEqual([]);
    expect(regressions({ ...run, median: 0.5 }, { ...run, median: 1.4 })).toEqual([]);
  });

  it('finds slower requests, larger answers and whatever fails for the first time', () => {
    const parts = [{ name: 'shallow page', requests: 400, median: 9, p95: 10, p99: 20 }];
    expect(regressions(run, { ...run, median: 6, p95: 30, parts })).toEqual([
      'median ms',
      'p95 ms',
      'shallow page: median ms',
    ]);
    expect(regressions(run, { ...run, bytes: 8_000 })).toEqual(['bytes/request']);
    expect(regressions(run, { ...run, failed: 1, checksFailed: 1, dropped: 1 })).toEqual([
      'failed',
      'checks failed',
      'dropped',
    ]);
  });

  it('finds a tail that doubles while the median stays, where there are enough requests to tell', () => {
    const slow = { ...run, p99: 40 };
    expect(regressions(run, slow)).toEqual([]);
    expect(regressions({ ...run, requests: 1_000 }, { ...slow, requests: 1_000 })).toEqual(['p99 ms']);
    expect(regressions({ ...run, requests: 1_000 }, { ...run, requests: 1_000, p99: 33 })).toEqual([]);
  });

  it('judges the rate of a closed model, which is its result, and not that of an open one', () => {
    const slow = { ...run, rate: 5 };
    expect(regressions(run, slow)).toEqual([]);
    expect(regressions({ ...run, profile: 'closed-32' }, { ...slow, profile: 'closed-32' })).toEqual(['iterations/s']);
  });

  it('says of p99 that it is of too few requests, where p95 has to do', () => {
    const verdict = (requests: number) =>
      compareRuns({ ...run, requests }, { ...run, requests, p95: 30, p99: 40 }, 1.3).flatMap(({ measure, verdict }) =>
        /^p9/.test(measure) ? [verdict] : [],
      );
    expect(verdict(999)).toEqual(['regression', 'too few']);
    expect(verdict(1_000)).toEqual(['regression', 'regression']);
  });

  it('finds a run without a request worse than any other, whose times it has none of', () => {
    const none = { ...run, requests: 0, median: 0, p95: 0, p99: 0, bytes: 0 };
    expect(compareRuns(run, none, 1.3)).toEqual([
      { measure: 'requests', before: 400, after: 0, verdict: 'regression' },
    ]);
  });
});

describe('differenceTable', () => {
  it('has a line for each measure, with its change', () => {
    expect(differenceTable([{ ...run, differences: compareRuns(run, { ...run, median: 8 }, 1.3) }])).toMatch(
      /median ms +4 +8 +\+100 % +REGRESSION[\s\S]*1 regression/,
    );
  });

  it('counts what has no verdict', () => {
    const [first] = compareRuns(run, run, 1.3);
    const unlike = { ...run, differences: first ? [{ ...first, verdict: 'unlike' as const }] : [] };
    expect(differenceTable([unlike])).toContain('no regression, 1 not comparable');
  });

  it('names two lists by their paths that end alike', () => {
    const both = ['/api/v1/products', '/api/v2/products'].map((resource) => ({ ...run, resource }));
    const table = differenceTable(both.map((one) => ({ ...one, differences: compareRuns(one, one, 1.3) })));
    for (const { resource } of both) expect(table).toContain(`list-shallow  ${resource}  median ms`);
  });
});

const app = (skipped('k6') ? undefined : await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } })) as TestApp;

describe.skipIf(skipped('k6'))(`a regression that was planted${skipped('k6')}`, () => {
  let before: RunSummary;

  beforeAll(async () => {
    before = await measured({});
  });

  async function measured(fault: PlantedFault): Promise<RunSummary> {
    await using proxy = await startProxy(app.url, fault);
    return await measureScenario('list-shallow', proxy.url);
  }

  it('is found: 20 ms of sleep', async () => {
    const after = await measured({ wait: 20 });
    // A loaded machine may take longer for all; what matters is that the 20 ms are seen.
    expect(after.median).toBeGreaterThan(20);
    expect(regressions({ ...before, median: Math.min(before.median, 15) }, after)).toContain('median ms');
  });

  it('is found: a page of double size', async () => {
    const after = await measured({ ask: doublePage });
    expect(regressions(before, after)).toEqual(expect.arrayContaining(['bytes/request', 'checks failed']));
  });
});

function doublePage(url: URL): void {
  if (!url.pathname.endsWith('/paginated')) return;
  const size = url.searchParams.get('pageSize');
  url.searchParams.set('pageSize', String(Math.min(100, 2 * Number(size ?? 10))));
}
