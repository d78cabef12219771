import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { summaryMark } from '../../../load-tests/lib/summary-mark.ts';
import { readCpuTime } from '../../../load-tests/run/cpu-time.ts';
import { htmlReport } from '../../../load-tests/run/html-report.ts';
import { junitReport } from '../../../load-tests/run/junit.ts';
import type { MeasuredRun } from '../../../load-tests/run/k6.ts';
import { type LoadReport, reportOf } from '../../../load-tests/run/report.ts';
import { reportOfLogs } from '../../../load-tests/run/report-of-logs.ts';
import { readSeries } from '../../../load-tests/run/series.ts';
import { usageTable } from '../../../load-tests/run/usage-table.ts';
import { measuredRun } from './measured-run.ts';

const run: MeasuredRun = {
  ...{ ...measuredRun, seconds: 3, requests: 30, failed: 1, refused: 1, checksFailed: 2, rate: 10 },
  crossed: ['checks rate==1'],
  checks: [
    { name: 'records are in <order>', passes: 8, fails: 2 },
    { name: 'status is 200', passes: 10, fails: 0 },
  ],
  thresholds: [{ name: 'checks rate==1', ok: false }],
  used: { service: 0.5, database: 1.5, memory: 180 },
  parts: [{ name: 'shallow page', requests: 30, median: 4, p95: 10, p99: 20 }],
  series: [1, 2, 3].map((at) => ({
    at,
    requests: 10,
    failed: 0,
    dropped: 0,
    users: 5,
    median: at,
    p95: 2 * at,
    p99: 3 * at,
  })),
  differences: [{ measure: 'median ms', before: 2, after: 4, verdict: 'regression' }],
};

const report = reportOf([run], ['export: /api/v1/products has no route that streams']);

const executablePath = '/usr/bin/chromium';
const reason = existsSync(executablePath)
  ? ''
  : ` (skipped: no browser at ${executablePath}; apt-get install chromium)`;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'slipway-report-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

describe('the report as JUnit', () => {
  it('has a case for each check, threshold and comparison, and says what failed', () => {
    const xml = junitReport(report);
    expect(xml).toContain(
      '<testsuite name="list-shallow load /api/v1/products" tests="4" failures="3" errors="0" skipped="0" time="3"',
    );
    expect(xml).toContain('name="records are in &#60;order&#62;"><failure message="failed 2 of 10 times"/>');
    expect(xml).toContain('name="status is 200"/>');
    expect(xml).toContain('name="median ms beside the base"><failure message="was 2, is 4"/>');
    expect(xml).toContain('name="export"><skipped message="/api/v1/products has no route that streams"/>');
  });

  it('has what was held for a run that looked for the breaking point, and not that it broke', () => {
    const broke: MeasuredRun = { ...run, profile: 'breakpoint', held: 40, differences: [] };
    const xml = junitReport(reportOf([broke]));
    expect(xml).toContain('tests="1" failures="0"');
    expect(xml).toContain('name="a rate is held"><system-out>held 40 requests/s; broke: checks rate==1</system-out>');
    expect(junitReport(reportOf([{ ...broke, held: 0 }]))).toContain(
      '<failure message="held 0 requests/s; broke: checks',
    );
  });

  it('skips what too few requests say nothing of', () => {
    const xml = junitReport(
      reportOf([{ ...run, differences: [{ measure: 'p99 ms', before: 2, after: 4, verdict: 'too few' }] }]),
    );
    expect(xml).toContain('name="p99 ms beside the base"><skipped message="too few requests to tell"/>');
  });
});

describe('the log of a Job', () => {
  it('becomes the same reports, of all runs in it', async () => {
    const out = folder();
    const { series: _series, used: _used, differences: _differences, ...row } = run;
    const logs = ['some table', `${summaryMark}${JSON.stringify({ ...row, crossed: [] })}`, 'more', ''].join('\n');
    expect(await reportOfLogs(Readable.from([logs, logs]), out)).toBe(true);
    const written = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as LoadReport;
    expect(written.runs).toMatchObject([{ scenario: 'list-shallow' }, { requests: 30 }]);
    const html = readFileSync(join(out, 'report.html'), 'utf8');
    expect(html).toContain('list-shallow');
    // Of the load, not of the machine that writes the report.
    expect(html).toContain('k6 v2.2.0 on 2 cores of a processor, 8 GiB</p>');
    expect(html).toContain('2026-01-01T00:00:00.000Z');
    expect(readFileSync(join(out, 'junit.xml'), 'utf8')).toContain('testsuite');
    const crossed = `${summaryMark}${JSON.stringify(row)}`;
    expect(await reportOfLogs(Readable.from([crossed]), out)).toBe(false);
  });

  it('is refused where it has no run', async () => {
    await expect(reportOfLogs(Readable.from(['nothing\n']), folder())).rejects.toThrow('found no run in it');
  });
});

describe('what a run used', () => {
  it('is printed for each, with what one core could do', () => {
    expect(usageTable([run])).toMatch(/list-shallow +products +0.5 +1.5 +2000 +180/);
    expect(usageTable([{ ...run, used: undefined } as never])).toBe('');
  });

  it.skipIf(process.platform !== 'linux')(
    'is read of a process, in milliseconds of its CPU (skipped: no /proc)',
    () => {
      const before = readCpuTime(process.pid);
      const until = performance.now() + 100;
      while (performance.now() < until);
      const after = readCpuTime(process.pid);
      // The process may wait for the core meanwhile; it cannot use more than passes on all of its threads.
      expect((after?.service ?? 0) - (before?.service ?? 0)).toBeGreaterThan(10);
      expect(after?.memory).toBeGreaterThan(20);
      expect(readCpuTime(2 ** 30)).toBeUndefined();
    },
  );
});

describe.skipIf(reason)(`the report in a browser${reason}`, () => {
  it('is XML as JUnit, of which a reader counts what the suites say', async () => {
    await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    const page = await browser.newPage();
    // As text: the types of this project are those of Node.
    const read = await page.evaluate(`(() => {
      const document = new DOMParser().parseFromString(${JSON.stringify(junitReport(report))}, 'application/xml');
      const numbers = (element) => ['tests', 'failures', 'skipped'].map((name) => Number(element.getAttribute(name)));
      return {
        errors: document.querySelectorAll('parsererror').length,
        counted: ['testcase', 'failure', 'skipped'].map((name) => document.querySelectorAll(name).length),
        told: numbers(document.documentElement),
        suites: [...document.querySelectorAll('testsuite')].map(numbers),
        first: document.querySelector('testcase').getAttribute('name'),
      };
    })()`);
    const suites = [
      [4, 3, 0],
      [1, 0, 1],
    ];
    expect(read).toEqual({
      ...{ errors: 0, counted: [5, 3, 1], told: [5, 3, 1], suites, first: 'records are in <order>' },
    });
  });

  it('shows tables and charts from one file, without a script or a request', async () => {
    const file = join(folder(), 'report.html');
    writeFileSync(file, htmlReport(report));
    await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    const page = await browser.newPage({ javaScriptEnabled: false });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`file://${file}`);
    expect(requests).toEqual([`file://${file}`]);
    expect(await page.locator('figure svg').count()).toBe(3);
    for (const line of await page.locator('polyline').all()) {
      const points = (await line.getAttribute('points')) ?? '';
      expect(points.split(' ')).toHaveLength(3);
      expect(points).not.toContain('NaN');
    }
    const text = await page.locator('body').innerText();
    for (const shown of [
      'CROSSED: checks rate==1',
      'records are in <order>',
      '+100 %',
      'regression',
      'Left out',
      'shallow page',
    ])
      expect(text).toContain(shown);
    expect(text).toContain(
      '0.5 ms of CPU of the service, so one core takes 2000 of them a second, and 1.5 ms of PostgreSQL',
    );
    // No label is cut off by the edge of its chart.
    for (const label of await page.locator('svg text').all()) {
      const [box, picture] = [await label.boundingBox(), await label.locator('xpath=..').boundingBox()];
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((picture?.x ?? 0) + (picture?.width ?? 0));
    }
    // Nothing is wider than the window.
    expect((await page.locator('table').first().boundingBox())?.width).toBeLessThan(1_280);
  });
});

describe('the report as HTML', () => {
  it('says nothing of PostgreSQL where there is none', () => {
    const html = htmlReport(reportOf([{ ...run, used: { service: 0.5, database: 0, memory: 180 } }]));
    expect(html).toContain('takes 2000 of them a second; the service had 180 MiB');
    expect(html).not.toContain('ms of PostgreSQL');
  });

  it('says what was under load, on what, by which rate, and why the base does not judge it', () => {
    const { differences: _, ...alone } = run;
    const html = htmlReport(reportOf([{ ...alone, note: 'the base differs: records 1 → 1000' }]));
    expect(html).toContain(
      'the sources (version 1.1.0, 6aa037d, Node v24.21.0) on postgresql, full; k6 v2.2.0 on 2 cores',
    );
    expect(html).toContain('1000 records, load of 20/s for 45 s');
    expect(html).toContain('Judged by limits of its own: the base differs: records 1 → 1000.');
  });
});

describe('readSeries', () => {
  it('reads what k6 recorded of each second of a scenario, also metrics that come later', () => {
    const events = [
      [
        'param',
        {
          aggregates: {
            counter: ['count', 'rate'],
            gauge: ['value'],
            rate: ['rate'],
            trend: ['avg', 'med', 'p(95)', 'p(99)'],
          },
        },
      ],
      ['metric', { time: { type: 'gauge' } }],
      ['start', [[1_000]]],
      [
        'metric',
        { http_reqs: { type: 'counter' }, http_req_duration: { type: 'trend' }, http_req_failed: { type: 'rate' } },
      ],
      // The setup is slow, and of no scenario.
      ['snapshot', [[900, 900, 900, 900], [0], [30, 30], [2_000]]],
      [
        'metric',
        {
          'http_reqs{scenario:day}': { type: 'counter' },
          'http_req_duration{scenario:day}': { type: 'trend' },
          'http_req_failed{scenario:day}': { type: 'rate' },
        },
      ],
      ['snapshot', [[99, 99, 99, 99], [9, 2, 3, 4], [0], [0.5], [12, 12], [10, 10], [3_000]]],
      ['metric', { vus: { type: 'gauge' }, 'dropped_iterations{scenario:day}': { type: 'counter' } }],
      ['snapshot', [[7, 7], [], [], [0], [0], [0, 0], [0, 0], [4_000], [6]]],
    ];
    const file = join(folder(), 'seconds.ndjson');
    writeFileSync(file, events.map(([event, data]) => JSON.stringify({ event, data })).join('\n'));
    expect(readSeries(file, 'day')).toEqual([
      { at: 1, requests: 0, failed: 0, dropped: 0, users: 0 },
      { at: 2, requests: 10, failed: 5, dropped: 0, users: 0, median: 2, p95: 3, p99: 4 },
      { at: 3, requests: 0, failed: 0, dropped: 7, users: 6 },
    ]);
    expect(readSeries(`${file}.gone`, 'day')).toEqual([]);
  });
});
