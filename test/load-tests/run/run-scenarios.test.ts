import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunArguments, readArguments } from '../../../load-tests/run/arguments.ts';
import { readBase } from '../../../load-tests/run/base.ts';
import type { LoadReport } from '../../../load-tests/run/report.ts';
import { runScenarios } from '../../../load-tests/run/run-scenarios.ts';
import { skipped } from '../../chart/chart.ts';
import { bootTestApp, type TestApp } from '../../support/boot-test-app.ts';
import { type LoadProxy, type PlantedFault, startProxy } from '../load-proxy.ts';
import { measureScenario } from '../run-scenario.ts';

const app = (skipped('k6') ? undefined : await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } })) as TestApp;

/** A run of a second, in a folder of its own, through a proxy whose faults may change from run to run. */
async function loadTest() {
  const fault: PlantedFault = {};
  const proxy: LoadProxy = await startProxy(app.url, fault);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const folder = mkdtempSync(join(tmpdir(), 'slipway-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const base = join(folder, 'base.json');
  const run = async (args: string, stopped = new AbortController().signal) => {
    const asked = readArguments([...args.split(' '), '--target', proxy.url, '--base', base, '--out', folder], {});
    const passed = await runScenarios((asked as { run: RunArguments }).run, stopped, () => undefined);
    return { passed, report: JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as LoadReport };
  };
  return { fault, base, run, url: proxy.url };
}

describe.skipIf(skipped('k6'))(`npm run load${skipped('k6')}`, () => {
  it('keeps a run as the base where all of it passed, and only then', async () => {
    const { fault, base, run } = await loadTest();
    const save = 'read-one smoke --duration 1s --save-base';
    expect((await run(save, AbortSignal.abort())).passed).toBe(false);
    fault.refuse = ({ pathname }) => /[0-9a-f-]{36}$/.test(pathname);
    expect((await run(save)).passed).toBe(false);
    expect(existsSync(base)).toBe(false);
    delete fault.refuse;
    expect((await run(save)).passed).toBe(true);
    expect(readBase(base)).toMatchObject([
      {
        ...{ scenario: 'read-one', records: 1_000, height: { rate: 5, seconds: 1 }, series: [] },
        origin: { k6: expect.stringMatching(/^v2\./), machine: expect.stringContaining('GiB'), version: '1.0.0' },
      },
    ]);
  });

  it('fails where a scenario was left out of every list, if it is asked for every one', async () => {
    const { run } = await loadTest();
    const smoke = 'read-one,export smoke --rate 5 --duration 1s --resource products,categories';
    expect(await run(smoke)).toMatchObject({
      passed: true,
      report: { skipped: ['products', 'categories'].map((name) => expect.stringContaining(`${name} has no route`)) },
    });
    expect((await run(`${smoke} --every-scenario`)).passed).toBe(false);
    expect((await run(`${smoke.replace(',export', '')} --every-scenario`)).passed).toBe(true);
  });

  it('judges times by the base where that fits, and otherwise by the limits of the scenario', async () => {
    const { fault, base, run } = await loadTest();
    const load = 'read-one load --duration 1s';
    const limits = expect.arrayContaining(['http_req_duration p(95)<50', 'http_req_duration p(99)<150']);
    fault.wait = ({ pathname }) => (/[0-9a-f-]{36}$/.test(pathname) ? 300 : 0);
    const alone = await run(load);
    expect(alone.passed).toBe(false);
    expect(alone.report.runs[0]).toMatchObject({
      crossed: limits,
    });
    expect((await run(`${load} --save-base`)).passed).toBe(true);
    const fitting = await run(`${load} --tolerance 3`);
    expect(fitting.report.runs[0]?.note).toBeUndefined();
    expect(fitting).toMatchObject({ passed: true, report: { runs: [{ crossed: [] }] } });
    const kept = readBase(base).map((one) => ({ ...one, records: 10 * one.records }));
    writeFileSync(base, JSON.stringify({ ...fitting.report, runs: kept }));
    const longer = await run(load);
    expect(longer.passed).toBe(false);
    expect(longer.report.runs[0]).toMatchObject({
      note: 'the base differs: records 10000 → 1000',
      crossed: limits,
    });
  });

  it('holds a slow setup neither against the seconds of a scenario nor against the rate that it held', async () => {
    const { fault, run } = await loadTest();
    fault.wait = ({ pathname }) => (pathname.endsWith('/paginated') ? 1_100 : 0);
    const { passed, report } = await run('read-one breakpoint --rate 20 --duration 6s');
    const [measured] = report.runs;
    expect(measured?.held).toBeGreaterThan(5);
    expect(passed).toBe(true);
    const seconds = measured?.series ?? [];
    expect(Math.max(...seconds.map(({ p99 = 0 }) => p99))).toBeLessThan(1_000);
    expect(seconds.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThanOrEqual(measured?.requests ?? 0);
  });

  it('holds no rate where every second has failures or drops, and fails', async () => {
    const { fault, run, url } = await loadTest();
    fault.wait = ({ pathname }) => (/[0-9a-f-]{36}$/.test(pathname) ? 3_000 : 0);
    const { passed, report } = await run('read-one breakpoint --rate 200 --duration 4s');
    // Requests that were under way when k6 ended are no faults of the service.
    const breaking = { PROFILE: 'breakpoint', RATE: '200', DURATION: '4s' };
    expect((await measureScenario('read-one', url, breaking)).said).not.toContain('context canceled');
    expect(report.runs[0]).toMatchObject({ held: 0, dropped: expect.any(Number) });
    expect(report.runs[0]?.series.some(({ dropped }) => dropped > 0)).toBe(true);
    expect(passed).toBe(false);
  });
});
