import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunSummary } from '../../../load-tests/lib/run-summary.ts';
import { compareWithBase, hasBase, saveBase } from '../../../load-tests/run/base.ts';
import { compareRuns, type Difference } from '../../../load-tests/run/compare-runs.ts';
import { differenceTable } from '../../../load-tests/run/difference-table.ts';
import { thisMachine } from '../../../load-tests/run/machine.ts';
import type { LoadReport } from '../../../load-tests/run/report.ts';
import { skipped } from '../../chart/chart.ts';
import { bootTestApp, type TestApp } from '../../support/boot-test-app.ts';
import { type PlantedFault, startProxy } from '../load-proxy.ts';
import { measureScenario } from '../run-scenario.ts';

const run: RunSummary = {
  ...{ scenario: 'list-shallow', resource: '/api/v1/products', records: 1_000, profile: 'load' },
  ...{ seconds: 10, requests: 400, failed: 0, refused: 0, outage: 0, dropped: 0, checksFailed: 0 },
  ...{ median: 4, p95: 10, p99: 20, max: 30, bytes: 4_000, rate: 20, crossed: [], checks: [], thresholds: [] },
  parts: [{ name: 'shallow page', requests: 400, median: 4, p95: 10, p99: 20 }],
};

function regressions(before: RunSummary, after: RunSummary): string[] {
  return worse(compareRuns([before], [after], 1.3));
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

  it('compares the same scenario of the same list under the same profile', () => {
    expect(compareRuns([run], [{ ...run, resource: '/api/v1/users' }], 1.3)).toEqual([]);
    expect(differenceTable(compareRuns([run], [{ ...run, median: 8 }], 1.3))).toMatch(
      /median ms +4 +8 +\+100 % +REGRESSION[\s\S]*1 regression/,
    );
  });
});

describe('differenceTable', () => {
  it('names two lists by their paths that end alike', () => {
    const both = ['/api/v1/products', '/api/v2/products'].map((resource) => ({ ...run, resource }));
    const table = differenceTable(compareRuns(both, both, 1.3));
    for (const { resource } of both) expect(table).toContain(`list-shallow  ${resource}  median ms`);
  });
});

describe('the base', () => {
  const report: LoadReport = {
    version: 1,
    started: '2026-01-01T00:00:00Z',
    target: 'http://127.0.0.1',
    machine: thisMachine(),
    runs: [{ ...run, series: [] }],
    skipped: [],
  };

  function baseFile(): string {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-base-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return join(folder, 'made/base.json');
  }

  it('is kept beside that of other scenarios, and later runs are compared with it', () => {
    const file = baseFile();
    saveBase(file, report);
    saveBase(file, { ...report, runs: [{ ...run, scenario: 'read-one', series: [] }] });
    const { differences = [] } = compareWithBase(file, { ...report, runs: [{ ...run, median: 40, series: [] }] }, 1.3);
    expect(worse(differences)).toEqual(['median ms']);
  });

  it('judges times where it has the scenario, of this machine, database and list', () => {
    const file = baseFile();
    const asked = { ...run, database: undefined };
    expect(hasBase(file, asked)).toBe(false);
    saveBase(file, report);
    expect(hasBase(file, asked)).toBe(true);
    expect(hasBase(file, { ...asked, resource: undefined })).toBe(true);
    const others = [{ resource: '/users' }, { profile: 'soak' }, { scenario: 'day' }, { database: 'sqlite, full' }];
    for (const other of others) expect(hasBase(file, { ...asked, ...other })).toBe(false);
    saveBase(file, { ...report, machine: { ...report.machine, cores: 64 } });
    expect(hasBase(file, asked)).toBe(false);
  });

  it('says why nothing is compared: no base, another machine, another database, a list of other length', () => {
    const file = baseFile();
    expect(compareWithBase(file, report, 1.3).note).toContain('--save-base keeps a run as one');
    saveBase(file, report);
    const other = { ...report, machine: { ...report.machine, cores: 64 } };
    expect(compareWithBase(file, other, 1.3).note).toContain('of another machine');
    expect(compareWithBase(file, { ...report, database: 'sqlite, full' }, 1.3).note).toContain('of a given service');
    const longer = { ...report, runs: [{ ...run, records: 100_000, series: [] }] };
    expect(compareWithBase(file, longer, 1.3)).toEqual({ differences: [] });
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
