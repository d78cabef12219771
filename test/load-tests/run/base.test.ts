import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { judgeByBase, readBase, saveBase, withoutTimeLimits } from '../../../load-tests/run/base.ts';
import type { MeasuredRun } from '../../../load-tests/run/k6.ts';
import { reportOf } from '../../../load-tests/run/report.ts';
import { hasPassed } from '../../../load-tests/run/verdict.ts';
import { measuredRun as run } from './measured-run.ts';

/** A run that is slower than the limits of its scenario. */
const limits = ['http_req_duration p(95)<100', 'http_req_duration{name:create} p(99)<250'];
const slow: MeasuredRun = {
  ...{ ...run, median: 400, p95: 900, crossed: limits },
  thresholds: [...limits.map((name) => ({ name, ok: false })), { name: 'checks rate==1', ok: true }],
};

const unlike: [string, MeasuredRun, string][] = [
  ['a list of other length', { ...slow, records: 100_000 }, 'records 1000 → 100000'],
  ['another rate', { ...slow, height: { rate: 50, seconds: 45 } }, 'rate 20 → 50'],
  ['another duration', { ...slow, height: { rate: 20, seconds: 5 } }, 'seconds 45 → 5'],
  ['another machine', { ...slow, origin: { ...run.origin, machine: 'another' } }, 'GiB → another'],
  [
    'another database',
    { ...slow, origin: { ...run.origin, database: 'sqlite, full' } },
    'postgresql, full → sqlite, full',
  ],
  ['another target', { ...slow, origin: { ...run.origin, service: 'http://a' } }, 'service the sources → http://a'],
];

function baseFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-base-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'made/base.json');
}

describe('the base', () => {
  it('judges a run like one of it, in place of the times that its scenario names', () => {
    const before = { ...run, median: 400, p95: 900 };
    const same = judgeByBase([before], slow, 1.3);
    expect(same.crossed).toEqual([]);
    expect(same.thresholds).toEqual([{ name: 'checks rate==1', ok: true }]);
    expect(hasPassed(same)).toBe(true);
    expect(hasPassed(judgeByBase([run], slow, 1.3))).toBe(false);
    expect(judgeByBase([run], { ...slow, crossed: ['checks rate==1', ...limits] }, 1.3).crossed).toEqual([
      'checks rate==1',
    ]);
  });

  it('takes another version of the service and a list a little longer for like', () => {
    const changed = { ...run, records: 1_040, origin: { ...run.origin, version: '2.0.0', revision: 'later' } };
    expect(judgeByBase([run], changed, 1.3).differences?.length).toBeGreaterThan(5);
  });

  it.each(unlike)('leaves a run of %s to the limits of its scenario, and says why', (_what, other, reason) => {
    const judged = judgeByBase([run], other, 1.3);
    expect(judged).toMatchObject({ crossed: limits, note: expect.stringContaining(reason) });
    expect(judged.differences).toBeUndefined();
    expect(hasPassed(judged)).toBe(false);
  });

  it('leaves a run that it has nothing of to the limits of its scenario, and says so', () => {
    expect(judgeByBase([], slow, 1.3)).toEqual({ ...slow, note: 'there is no base; --save-base keeps a run as one' });
    for (const one of [{ scenario: 'day' }, { resource: '/users' }, { profile: 'soak' }]) {
      expect(judgeByBase([run], { ...slow, ...one }, 1.3).note).toBe('the base has no such run');
    }
  });

  it('keeps the end of a run that looks for the breaking point', () => {
    const broken = { ...slow, profile: 'breakpoint' };
    expect(withoutTimeLimits(broken)).toEqual(broken);
  });

  it('is of every machine, database, target, rate and length that one was kept of', () => {
    const file = baseFile();
    expect(readBase(file)).toEqual([]);
    for (const one of [run, ...unlike.map(([, other]) => other), { ...run, scenario: 'day' }])
      saveBase(file, reportOf([one]));
    expect(readBase(file)).toHaveLength(2 + unlike.length);
    saveBase(
      file,
      reportOf([{ ...run, median: 3, series: [{ at: 1, requests: 1, failed: 0, dropped: 0, users: 1 }] }]),
    );
    expect(readBase(file)).toHaveLength(2 + unlike.length);
    expect(judgeByBase(readBase(file), run, 1.3).differences).toContainEqual({
      ...{ measure: 'median ms', before: 3, after: 4, verdict: 'same' },
    });
    for (const [, other] of unlike) {
      expect(judgeByBase(readBase(file), other, 1.3).differences).toContainEqual({
        ...{ measure: 'median ms', before: 400, after: 400, verdict: 'same' },
      });
    }
  });

  it('is refused where it is none, or of another version', () => {
    const file = join(baseFile(), '../../base.json');
    writeFileSync(file, 'nothing');
    expect(() => readBase(file)).toThrow(`Expected ${file} to be a report.json`);
    writeFileSync(file, JSON.stringify({ version: 1, runs: [] }));
    expect(() => readBase(file)).toThrow('its version is 1. Remove it');
  });
});

describe('hasPassed', () => {
  const broke: MeasuredRun = { ...run, profile: 'breakpoint', crossed: ['dropped_iterations count==0'] };

  it('takes the end of a run that looks for the breaking point as its result, where a rate was held before', () => {
    expect(hasPassed({ ...broke, held: 40 })).toBe(true);
    expect(hasPassed({ ...broke, held: 0 })).toBe(false);
    // As from a log.
    expect(hasPassed(broke)).toBe(true);
    expect(hasPassed({ ...broke, requests: 0 })).toBe(false);
    expect(hasPassed({ ...run, crossed: broke.crossed })).toBe(false);
  });
});
