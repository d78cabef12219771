import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { compareRuns, type Difference, keyOf } from './compare-runs.ts';
import { isSameMachine, thisMachine } from './machine.ts';
import type { LoadReport } from './report.ts';

/** How a report stands beside the base, or why it cannot be compared with one. */
export interface BaseComparison {
  readonly differences?: Difference[];
  readonly note?: string;
}

/** Compares a report with the base that was kept in a file. Only what ran before on a machine like this is compared. */
export function compareWithBase(file: string, report: LoadReport, tolerance: number): BaseComparison {
  if (!existsSync(file)) return { note: `There is no base at ${file}; --save-base keeps a run as one.` };
  const base = readReport(file);
  if (!isSameMachine(base.machine, report.machine)) {
    return { note: `The base at ${file} is of another machine (${base.machine.processor}), so nothing is compared.` };
  }
  if (base.database !== report.database) {
    return { note: `The base at ${file} is of ${base.database ?? 'a given service'}, so nothing is compared.` };
  }
  return {
    differences: compareRuns(
      base.runs.filter((run) => isAsLong(run, report)),
      report.runs,
      tolerance,
    ),
  };
}

/** Whether a base in a file judges the times of a scenario under a profile: it is of this machine and database and has it. */
export function hasBase(file: string, run: BaseQuestion): boolean {
  if (!existsSync(file)) return false;
  const { machine, database, runs } = readReport(file);
  if (!isSameMachine(machine, thisMachine()) || database !== run.database) return false;
  const isOfList = ({ resource }: { resource: string }) => run.resource === undefined || resource === run.resource;
  return runs.some((one) => one.scenario === run.scenario && one.profile === run.profile && isOfList(one));
}

/** What a base is asked for. */
interface BaseQuestion {
  readonly scenario: string;
  readonly profile: string;
  /** None is the one that k6 chooses. */
  readonly resource: string | undefined;
  readonly database: string | undefined;
}

/** Keeps the runs of a report as the base, beside those of other scenarios. */
export function saveBase(file: string, report: LoadReport): void {
  const former = existsSync(file) ? readReport(file) : undefined;
  const isOfThis = former && isSameMachine(former.machine, report.machine) && former.database === report.database;
  const keys = new Set(report.runs.map(keyOf));
  const others = isOfThis ? former.runs.filter((run) => !keys.has(keyOf(run))) : [];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...report, differences: undefined, runs: [...others, ...report.runs] }));
}

/**
 * Reads a report.
 *
 * @throws Error when the file is none
 */
export function readReport(file: string): LoadReport {
  const report = JSON.parse(readFileSync(file, 'utf8')) as LoadReport;
  if (report.version === 1 && Array.isArray(report.runs)) return report;
  throw new Error(`Expected ${file} to be a report.json of \`npm run load\`.`);
}

/** A list of other length takes other time. */
function isAsLong(run: LoadReport['runs'][number], { runs }: LoadReport): boolean {
  const now = runs.find((other) => keyOf(other) === keyOf(run));
  return !now || Math.abs(now.records - run.records) <= 0.05 * run.records;
}
