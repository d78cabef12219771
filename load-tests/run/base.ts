import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { compareRuns } from './compare-runs.ts';
import type { MeasuredRun } from './k6.ts';
import { nameOf, pairOf, unlikeness } from './pair-runs.ts';
import { type LoadReport, readReport } from './report.ts';

/**
 * Reads the runs of a base: of all machines, services and databases that one was kept of.
 *
 * @returns none where there is no file
 * @throws Error when the file is no base
 */
export function readBase(file: string): readonly MeasuredRun[] {
  return existsSync(file) ? readReport(file).runs : [];
}

/**
 * Has a run judged by the run of the base that is like it. Where there is none, the limits of its scenario judge it, and
 * its `note` says why.
 *
 * @param tolerance how many times as slow is still the same; above 1
 */
export function judgeByBase(base: readonly MeasuredRun[], run: MeasuredRun, tolerance: number): MeasuredRun {
  const { former, unlike } = pairOf(base, run);
  if (former && unlike.length === 0) {
    return { ...withoutTimeLimits(run), differences: compareRuns(former, run, tolerance) };
  }
  if (base.length === 0) return { ...run, note: 'there is no base; --save-base keeps a run as one' };
  return { ...run, note: former ? `the base differs: ${unlike.join('; ')}` : 'the base has no such run' };
}

/** Leaves out the times that a scenario names as its limits: they are of another machine. Those of a breaking point are its end. */
export function withoutTimeLimits(run: MeasuredRun): MeasuredRun {
  const counts = (name: string) => run.profile === 'breakpoint' || !name.startsWith('http_req_duration');
  return {
    ...run,
    thresholds: run.thresholds.filter(({ name }) => counts(name)),
    crossed: run.crossed.filter(counts),
  };
}

/** Keeps runs as the base, in place of those that they can be compared with. */
export function saveBase(file: string, { runs, ...report }: LoadReport): void {
  const isReplaced = (former: MeasuredRun) =>
    runs.some((run) => nameOf(run) === nameOf(former) && unlikeness(former, run).length === 0);
  const others = readBase(file).filter((former) => !isReplaced(former));
  const kept: LoadReport = { ...report, runs: [...others, ...runs.map((run) => ({ ...run, series: [] }))] };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(kept));
}
