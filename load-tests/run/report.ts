import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UnmeasuredRun } from '../lib/summary-table.ts';
import { htmlReport } from './html-report.ts';
import { junitReport } from './junit.ts';
import type { MeasuredRun } from './k6.ts';

const version = 2;

/** All that a call of `npm run load` measured; `report.json` holds it. */
export interface LoadReport {
  readonly version: typeof version;
  /** When it began, ISO 8601. */
  readonly started: string;
  readonly runs: readonly MeasuredRun[];
  /** What was left out, and why. */
  readonly skipped: readonly string[];
  /** What ended without a summary; any fails the whole. */
  readonly unmeasured: readonly UnmeasuredRun[];
}

/** The report of runs. */
export function reportOf(
  runs: readonly MeasuredRun[],
  skipped: readonly string[] = [],
  unmeasured: readonly UnmeasuredRun[] = [],
): LoadReport {
  const [started = ''] = [...runs, ...unmeasured].map((run) => run.started).toSorted();
  return { version, started, runs, skipped, unmeasured };
}

/** Writes `report.json`, `report.html` and `junit.xml`. */
export function writeReports(report: LoadReport, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.json'), JSON.stringify(report, undefined, 1));
  writeFileSync(join(folder, 'report.html'), htmlReport(report));
  writeFileSync(join(folder, 'junit.xml'), junitReport(report));
}

/**
 * Reads a report.
 *
 * @throws Error when the file is none, or one of another version
 */
export function readReport(file: string): LoadReport {
  const refusal = `Expected ${file} to be a report.json of this version of \`npm run load\``;
  let report: Partial<LoadReport>;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${refusal}; it is no JSON.`, { cause });
  }
  if (report.version === version && Array.isArray(report.runs)) return report as LoadReport;
  throw new Error(`${refusal}; its version is ${report.version}. Remove it, and run anew.`);
}
