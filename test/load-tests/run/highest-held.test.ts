import { expect, it } from 'vitest';
import { resultOf } from '../../../load-tests/lib/summary-table.ts';
import { compareRuns } from '../../../load-tests/run/compare-runs.ts';
import { highestHeld } from '../../../load-tests/run/highest-held.ts';
import type { Second } from '../../../load-tests/run/series.ts';
import { measuredRun } from './measured-run.ts';

const second = (requests: number, more: Partial<Second> = {}): Second => ({
  ...{ at: requests, requests, failed: 0, dropped: 0, users: 5, median: 4, p95: 10 },
  ...more,
});
const rising = [10, 20, 30, 40, 50].map((requests) => second(requests));

const run = { ...measuredRun, profile: 'breakpoint', dropped: 9, crossed: ['dropped_iterations count==0'] };

it.each([
  ['failed', { failed: 1 }],
  ['was dropped', { dropped: 1 }],
  ['took a second', { p95: 1000 }],
])('is the mean of the last three seconds before one %s', (_what, broken) => {
  expect(highestHeld([...rising, second(900, broken), second(900)])).toBe(40);
});

it('is of the whole run where nothing broke, and none where nothing held for three seconds', () => {
  expect(highestHeld(rising)).toBe(40);
  expect(highestHeld([second(50), second(60), second(70, { failed: 1 }), ...rising])).toBe(0);
});

it('stands in the result of a run that looked for it, and is what two such runs differ by', () => {
  expect(resultOf({ ...run, held: 40 })).toBe('held 40 requests/s; broke: dropped_iterations count==0');
  expect(resultOf({ ...run, crossed: [] })).toBe('broke: not within the run');
  const verdicts = (after: number) =>
    compareRuns({ ...run, held: 400 }, { ...run, held: after, median: 90, dropped: 99 }, 1.3)
      .filter(({ verdict }) => verdict !== 'same')
      .map(({ measure, verdict }) => `${measure}: ${verdict}`);
  expect(verdicts(350)).toEqual([]);
  expect(verdicts(200)).toEqual(['held requests/s: regression']);
  expect(verdicts(900)).toEqual(['held requests/s: better']);
});
