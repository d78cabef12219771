import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compareReports, comparisonOf } from '../../../load-tests/run/compare-reports.ts';
import type { MeasuredRun } from '../../../load-tests/run/k6.ts';
import { reportOf, writeReports } from '../../../load-tests/run/report.ts';
import { measuredRun as run } from './measured-run.ts';

function compared(before: MeasuredRun[], after: MeasuredRun[]) {
  const { compared: runs, ...comparison } = comparisonOf(reportOf(before), reportOf(after), 1.3);
  const verdicts = runs.flatMap(({ differences }) => differences.map(({ verdict }) => verdict));
  return { ...comparison, verdicts: [...new Set(verdicts)].toSorted() };
}

describe('two runs side by side', () => {
  it('pass where the second has all that the first has, no worse', () => {
    expect(compared([run], [run])).toEqual({ notes: [], passed: true, verdicts: ['same', 'too few'] });
    const slow = compared([run], [{ ...run, median: 40 }]);
    expect(slow).toMatchObject({ notes: [], passed: false });
    expect(slow.verdicts).toContain('regression');
  });

  it.each([
    ['database', { origin: { ...run.origin, database: 'sqlite, full' } }, 'database postgresql, full → sqlite, full'],
    ['rate', { height: { rate: 40, seconds: 45 } }, 'rate 20 → 40'],
    ['duration', { height: { rate: 20, seconds: 5 } }, 'seconds 45 → 5'],
    ['number of records', { records: 100_000 }, 'records 1000 → 100000'],
  ])('have no verdict where they are of another %s, and do not pass', (_what, other, reason) => {
    expect(compared([run], [{ ...run, ...other, median: 1 }])).toEqual({
      notes: [`not comparable, ${reason}: list-shallow of products`],
      ...{ passed: false, verdicts: ['unlike'] },
    });
  });

  it('name what only one of them has, and do not pass where that is the first', () => {
    const other = { ...run, scenario: 'read-one' };
    expect(compared([run, other], [run])).toMatchObject({
      notes: ['missing in the second under load: read-one of products'],
      passed: false,
    });
    expect(compared([run], [run, other])).toMatchObject({
      notes: ['missing in the first under load: read-one of products'],
      passed: true,
    });
  });

  it('name those together that are unlike by the same', () => {
    const both = [run, { ...run, scenario: 'read-one' }];
    const { notes } = compared(
      both,
      both.map((one) => ({ ...one, height: { rate: 40, seconds: 45 } })),
    );
    expect(notes).toEqual(['not comparable, rate 20 → 40: list-shallow of products, read-one of products']);
  });

  it('do not pass where the second made no request', () => {
    const none = { ...run, requests: 0, median: 0, p95: 0, p99: 0, bytes: 0, parts: [] };
    expect(compared([run], [none])).toMatchObject({ passed: false, verdicts: ['regression'] });
    expect(compared([none], [none])).toMatchObject({ passed: false, verdicts: ['regression'] });
  });

  it('have no verdict of a breaking point that a log does not tell', () => {
    const broke = { ...run, profile: 'breakpoint' };
    expect(compared([broke], [{ ...broke, held: 40 }])).toMatchObject({ passed: false, verdicts: ['unlike'] });
    expect(compared([broke], [broke])).toMatchObject({ passed: false, verdicts: ['unlike'] });
    expect(compared([{ ...broke, held: 40 }], [{ ...broke, held: 40 }])).toMatchObject({ passed: true });
    expect(compared([{ ...broke, held: 40 }], [{ ...broke, held: 0 }])).toMatchObject({ passed: false });
  });

  it('are refused where they have nothing in common', () => {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-compare-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [before, after] = [join(folder, 'before'), join(folder, 'after')];
    writeReports(reportOf([run]), before);
    writeReports(reportOf([{ ...run, profile: 'soak' }]), after);
    expect(() => compareReports({ before, after, tolerance: 1.3 })).toThrow(
      /in common\.\nmissing in the second under load: .*\nmissing in the first under soak: /,
    );
    expect(compareReports({ before, after: before, tolerance: 1.3 })).toBe(true);
  });
});
