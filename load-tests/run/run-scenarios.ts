import type { ChildProcess } from 'node:child_process';
import { join, relative } from 'node:path';
import process from 'node:process';
import { summaryTable } from '../lib/summary-table.ts';
import type { RunArguments } from './arguments.ts';
import { compareWithBase, hasBase, saveBase } from './base.ts';
import { type CpuTime, readCpuTime } from './cpu-time.ts';
import { differenceTable } from './difference-table.ts';
import { findK6, type MeasuredRun, NothingToDo, refuseUnfitRun, runK6, type Usage } from './k6.ts';
import { thisMachine } from './machine.ts';
import { type Plan, planRuns } from './plan.ts';
import type { LoadReport } from './report.ts';
import { writeReports } from './report-of-logs.ts';
import { startService } from './service.ts';
import { usageTable } from './usage-table.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Runs scenarios one after the other, prints a table and writes the reports.
 *
 * @param running is told of each process of k6, so that it can be ended from outside
 * @returns whether all ran, no threshold was crossed and nothing is slower than the base
 * @throws Error when nothing can be run
 */
export async function runScenarios(
  asked: RunArguments,
  stopped: AbortSignal,
  running: (child: ChildProcess) => void,
): Promise<boolean> {
  const k6 = findK6();
  const [first] = asked.scenarios;
  if (first) await refuseUnfitRun(k6, first, asked.profile);
  const started = new Date();
  await using opened = new AsyncDisposableStack();
  const service = asked.target ? undefined : await startService(opened, asked);
  const target = (asked.target ?? service?.url ?? '').replace(/\/$/, '');
  const variables = { ...service?.account };
  const hasCredentials = service?.account !== undefined || !!(process.env.TOKEN || process.env.LOAD_EMAIL);
  const plan = await planRuns(target, asked, hasCredentials);
  for (const line of plan.skipped) console.error(`left out: ${line}`);
  const database = service && databaseOf(asked);
  const { runs, skipped } = await runAll(plan, stopped, async (scenario, resource) => {
    console.error(`${scenario}, ${asked.profile}${resource ? `, ${resource}` : ''}, against ${target}`);
    let before = service && readCpuTime(service.pid);
    const begun = () => {
      before = service && readCpuTime(service.pid);
    };
    const isJudged = asked.saveBase || hasBase(asked.base, { ...asked, scenario, resource, database });
    const own = isJudged ? { ...variables, JUDGED_BY_BASE: 'true' } : variables;
    const run = await runK6(k6, { ...asked, scenario, resource, target, variables: own }, running, begun);
    const after = service && readCpuTime(service.pid);
    return before && after ? { ...run, used: usageOf(before, after, run.requests) } : run;
  });
  const measured: LoadReport = {
    ...{ version: 1, started: started.toISOString(), target, machine: thisMachine(), runs, skipped },
    ...(database !== undefined && { database }),
  };
  console.log(`${summaryTable(runs)}${usageTable(runs)}`);
  const report = judge(measured, asked);
  const folder = asked.out ?? newFolder(started);
  writeReports(report, folder);
  console.error(`report: ${relative(process.cwd(), join(folder, 'report.html'))}`);
  return (
    !stopped.aborted &&
    runs.length > 0 &&
    runs.every(({ crossed, profile }) => crossed.length === 0 || profile === 'breakpoint') &&
    (report.differences ?? []).every(({ verdict }) => verdict !== 'regression')
  );
}

function databaseOf({ database, size }: RunArguments): string {
  return process.env.DATABASE_URL ? 'the database of DATABASE_URL' : `${database}, ${size}`;
}

function usageOf(before: CpuTime, after: CpuTime, requests: number): Usage {
  const each = (one: number, other: number) => Math.round((100 * (other - one)) / Math.max(1, requests)) / 100;
  return {
    service: each(before.service, after.service),
    database: each(before.database, after.database),
    memory: after.memory,
  };
}

/** Of several runs one is left out whose list has nothing for it; a single one says so by failing. */
async function runAll(
  { runs, skipped }: Plan,
  stopped: AbortSignal,
  runOne: (scenario: string, resource: string | undefined) => Promise<MeasuredRun>,
): Promise<{ runs: MeasuredRun[]; skipped: string[] }> {
  const measured: MeasuredRun[] = [];
  const leftOut = [...skipped];
  for (const { scenario, resource } of runs) {
    if (stopped.aborted) break;
    try {
      measured.push(await runOne(scenario, resource));
    } catch (error) {
      if (runs.length === 1 || !(error instanceof NothingToDo)) throw error;
      leftOut.push(`${scenario}: ${error.message}`);
    }
  }
  return { runs: measured, skipped: leftOut };
}

/** Beside the base of this machine; or as the new base, which is not compared with the one before it. */
function judge(report: LoadReport, { base, saveBase: saves, tolerance }: RunArguments): LoadReport {
  if (saves) {
    saveBase(base, report);
    console.error(`kept as the base of this machine: ${base}`);
    return report;
  }
  const { differences, note } = compareWithBase(base, report, tolerance);
  if (note) console.error(note);
  if (!differences || differences.length === 0) return report;
  console.log(differenceTable(differences));
  return { ...report, differences };
}

/** Where the reports of a run go, by the time as a name that sorts: `2026-01-31T09-05-00`. */
export function newFolder(started: Date): string {
  return join(root, '.cache/load/runs', started.toISOString().slice(0, 19).replaceAll(':', '-'));
}
