import type { ChildProcess } from 'node:child_process';
import { join, relative } from 'node:path';
import process from 'node:process';
import { summaryTable, type UnmeasuredRun } from '../lib/summary-table.ts';
import type { RunArguments } from './arguments.ts';
import { judgeByBase, readBase, saveBase, withoutTimeLimits } from './base.ts';
import { type CpuTime, readCpuTime } from './cpu-time.ts';
import { differenceTable } from './difference-table.ts';
import {
  EmptyList,
  findK6,
  type MeasuredRun,
  NothingToDo,
  refuseUnfitRun,
  runK6,
  Unmeasured,
  type Usage,
} from './k6.ts';
import { originOfRun } from './origin-of-run.ts';
import { linesByReason } from './pair-runs.ts';
import { serviceDirectory } from './places.ts';
import { type Plan, planRuns } from './plan.ts';
import { type LoadReport, reportOf, writeReports } from './report.ts';
import { startService } from './service.ts';
import { usageTable } from './usage-table.ts';
import { hasPassed, neverRun } from './verdict.ts';

/**
 * Runs scenarios one after the other, prints a table and writes the reports.
 *
 * @param running is told of each process of k6, so that it can be ended from outside
 * @returns whether all ran to their end, no threshold was crossed and nothing is slower than the base
 * @throws Error when nothing can be run
 */
export async function runScenarios(
  asked: RunArguments,
  stopped: AbortSignal,
  running: (child: ChildProcess) => void,
): Promise<boolean> {
  const k6 = findK6();
  const base = readBase(asked.base);
  const [first] = asked.scenarios;
  if (first) await refuseUnfitRun(k6, first, asked.profile);
  const started = new Date();
  await using opened = new AsyncDisposableStack();
  const service = asked.target ? undefined : await startService(opened, asked);
  const target = (asked.target ?? service?.url ?? '').replace(/\/$/, '');
  const variables = { ...service?.account, LOAD_ORIGIN: JSON.stringify(originOfRun(k6, asked)) };
  const hasCredentials = service?.account !== undefined || !!(process.env.TOKEN || process.env.LOAD_EMAIL);
  const plan = await planRuns(target, asked, hasCredentials);
  const { runs, skipped, unmeasured } = await runAll(plan, asked, stopped, async (scenario, resource) => {
    console.error(`${scenario}, ${asked.profile}${resource ? `, ${resource}` : ''}, against ${target}`);
    let before = service && readCpuTime(service.pid);
    const begun = () => {
      before = service && readCpuTime(service.pid);
    };
    const run = await runK6(k6, { ...asked, scenario, resource, target, variables }, running, begun);
    const after = service && readCpuTime(service.pid);
    const measured = before && after ? { ...run, used: usageOf(before, after, run.requests) } : run;
    // What becomes the base is not compared with the one before it.
    return asked.saveBase ? withoutTimeLimits(measured) : judgeByBase(base, measured, asked.tolerance);
  });
  const report = reportOf(runs, skipped, unmeasured);
  const folder = asked.out ?? newFolder(started);
  writeReports(report, folder);
  tell(report);
  console.error(`report: ${relative(process.cwd(), join(folder, 'report.html'))}`);
  const missing = asked.everyScenario ? neverRun(asked.scenarios, runs) : [];
  for (const scenario of missing)
    console.error(`${scenario} was left out of every list, and --every-scenario asks for it`);
  const isWhole = !stopped.aborted && runs.length > 0 && missing.length === 0 && unmeasured.length === 0;
  const passed = isWhole && runs.every(hasPassed);
  if (asked.saveBase) keep(asked.base, report, passed);
  return passed;
}

/** Prints what was measured and what was not, how it stands beside the base, and what does not and why. */
function tell({ runs, skipped, unmeasured }: LoadReport): void {
  console.log(`${summaryTable(runs, unmeasured)}${usageTable(runs)}`);
  for (const line of skipped) console.error(`left out: ${line}`);
  if (runs.some(({ differences }) => differences)) console.log(differenceTable(runs));
  const alone = runs.flatMap((run) => (run.note ? [{ run, reason: run.note }] : []));
  for (const line of linesByReason(alone)) console.error(`judged by limits of their own: ${line}`);
}

/** Keeps a report as the base: what failed, or was interrupted, would let pass what is as bad. */
function keep(file: string, report: LoadReport, passed: boolean): void {
  if (passed) saveBase(file, report);
  console.error(passed ? `kept as the base: ${file}` : 'not kept as the base, because not all of it passed');
}

function usageOf(before: CpuTime, after: CpuTime, requests: number): Usage {
  const each = (one: number, other: number) => Math.round((100 * (other - one)) / Math.max(1, requests)) / 100;
  return {
    service: each(before.service, after.service),
    database: each(before.database, after.database),
    memory: after.memory,
  };
}

/**
 * Of several runs one is left out whose list has nothing for it, unless that list was named and is empty. What else ends
 * without a summary is kept, for the report to name.
 */
async function runAll(
  { runs, skipped }: Plan,
  { profile, resources }: Pick<RunArguments, 'profile' | 'resources'>,
  stopped: AbortSignal,
  runOne: (scenario: string, resource: string | undefined) => Promise<MeasuredRun>,
): Promise<Pick<LoadReport, 'runs' | 'skipped' | 'unmeasured'>> {
  const measured: MeasuredRun[] = [];
  const unmeasured: UnmeasuredRun[] = [];
  const leftOut = [...skipped];
  const isNamed = resources.length > 0 && !resources.includes('all');
  for (const { scenario, resource = '' } of runs) {
    if (stopped.aborted) break;
    const started = new Date().toISOString();
    try {
      measured.push(await runOne(scenario, resource || undefined));
    } catch (error) {
      if (!(error instanceof Unmeasured)) throw error;
      const isLeftOut = runs.length > 1 && error instanceof NothingToDo && !(isNamed && error instanceof EmptyList);
      if (isLeftOut) leftOut.push(`${scenario}: ${error.message}`);
      else unmeasured.push({ scenario, resource, profile, started, reason: error.message });
    }
  }
  return { runs: measured, skipped: leftOut, unmeasured };
}

/** Where the reports of a run go, by the time as a name that sorts: `2026-01-31T09-05-00`. */
export function newFolder(started: Date): string {
  return join(serviceDirectory, '.cache/load/runs', started.toISOString().slice(0, 19).replaceAll(':', '-'));
}
