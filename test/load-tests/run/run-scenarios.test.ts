import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { summaryTable } from '../../../load-tests/lib/summary-table.ts';
import { type RunArguments, readArguments } from '../../../load-tests/run/arguments.ts';
import { readBase } from '../../../load-tests/run/base.ts';
import type { LoadReport } from '../../../load-tests/run/report.ts';
import { runScenarios } from '../../../load-tests/run/run-scenarios.ts';
import { root, skipped } from '../../chart/chart.ts';
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
  const run = async (
    args: string,
    stopped = new AbortController().signal,
    running: (child: ChildProcess) => void = () => undefined,
  ) => {
    const asked = readArguments([...args.split(' '), '--target', proxy.url, '--base', base, '--out', folder], {});
    const passed = await runScenarios((asked as { run: RunArguments }).run, stopped, running);
    const [json = '', xml = ''] = ['report.json', 'junit.xml'].map((file) => readFileSync(join(folder, file), 'utf8'));
    return { passed, report: JSON.parse(json) as LoadReport, xml };
  };
  /** The command as it is typed, with its exit code and what it says on stderr. */
  const command = async (args: string) => {
    const options = ['--target', proxy.url, '--base', base, '--out', folder];
    const child = spawn(process.execPath, ['load-tests/run.ts', ...args.split(' '), ...options], { cwd: root });
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdout.resume();
    return { said: await text(child.stderr), code: await ended };
  };
  return { fault, base, run, command, url: proxy.url };
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

  it('leaves a list without records out of all lists and names it, and fails where that list was named', async () => {
    const { fault, run, command } = await loadTest();
    fault.answer = ({ url, text }) => (url.pathname.endsWith('/categories/paginated') ? '{"data":[],"total":0}' : text);
    const smoke = 'read-one smoke --rate 5 --duration 1s';
    const ofAll = await run(`${smoke} --resource all`);
    expect(ofAll).toMatchObject({ passed: true, report: { unmeasured: [] } });
    expect(ofAll.report.skipped).toContain('/api/v1/categories has no records');
    expect(ofAll.report.runs.map(({ resource }) => resource)).not.toContain('/api/v1/categories');
    expect(ofAll.xml).toContain('name="every scenario"><skipped message="/api/v1/categories has no records"/>');
    const named = await run(`${smoke} --resource products,categories`);
    const empty = { scenario: 'read-one', resource: '/api/v1/categories', reason: '/api/v1/categories has no records' };
    expect(named).toMatchObject({ passed: false, report: { runs: [{ failed: 0 }], unmeasured: [empty] } });
    expect((await run(`${smoke} --resource categories`)).report).toMatchObject({ runs: [], unmeasured: [empty] });
    const [all, alone] = [await command(`${smoke} --resource all`), await command(`${smoke} --resource categories`)];
    expect(all.said).toContain('left out: /api/v1/categories has no records');
    expect(all.said).not.toContain('test aborted');
    expect(alone.said).toContain('prisma/seed.ts, which has to make some for this list');
    expect([all.code, alone.code]).toEqual([0, 1]);
  });

  it('fails and names a run of k6 that ended without a summary, beside what the others measured', async () => {
    const { run } = await loadTest();
    const children: ChildProcess[] = [];
    const { passed, report, xml } = await run(
      'read-one smoke --rate 5 --duration 1s --resource categories,products',
      undefined,
      (child) => children.push(child) === 1 && child.kill('SIGKILL'),
    );
    expect(passed).toBe(false);
    expect(report.runs).toMatchObject([{ resource: '/api/v1/products', failed: 0, crossed: [] }]);
    const reason = expect.stringContaining('k6 ended with SIGKILL');
    expect(report.unmeasured).toMatchObject([{ scenario: 'read-one', resource: '/api/v1/categories', reason }]);
    expect(summaryTable(report.runs, report.unmeasured)).toMatch(
      /^read-one +categories +smoke +- .*NO SUMMARY: k6 ended with SIGKILL/m,
    );
    expect(xml).toMatch(/name="read-one smoke \/api\/v1\/categories" tests="1" failures="1"/);
    expect(xml).toContain('name="ends with a summary"><failure message="k6 ended with SIGKILL');
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
