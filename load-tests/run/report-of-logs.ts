import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { RunSummary } from '../lib/run-summary.ts';
import { summaryMark } from '../lib/summary-mark.ts';
import { resultOf } from '../lib/summary-table.ts';
import { htmlReport } from './html-report.ts';
import { junitReport } from './junit.ts';
import { thisMachine } from './machine.ts';
import type { LoadReport } from './report.ts';

/**
 * Writes the reports of runs in a cluster, whose Jobs print what they measured. There are no charts, because k6 says only
 * at its end what it measured.
 *
 * @param logs of one Job or more, as `kubectl logs` prints them
 * @returns whether no threshold was crossed
 * @throws Error where the logs have no run
 */
export async function reportOfLogs(logs: Readable, folder: string): Promise<boolean> {
  const lines = (await text(logs)).split('\n').filter((line) => line.startsWith(summaryMark));
  const runs = lines.map((line) => ({ ...(JSON.parse(line.slice(summaryMark.length)) as RunSummary), series: [] }));
  if (runs.length === 0) {
    throw new Error('Expected the log of a Job that `npm run load -- manifest … --kind job` made; found no run in it.');
  }
  const started = new Date().toISOString();
  const report: LoadReport = { version: 1, started, target: 'a cluster', machine: thisMachine(), runs, skipped: [] };
  writeReports(report, folder);
  console.error(runs.map((run) => `${run.scenario}, ${run.profile}: ${resultOf(run)}`).join('\n'));
  return runs.every(({ crossed, profile }) => crossed.length === 0 || profile === 'breakpoint');
}

/** Writes `report.json`, `report.html` and `junit.xml`. */
export function writeReports(report: LoadReport, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.json'), JSON.stringify(report, undefined, 1));
  writeFileSync(join(folder, 'report.html'), htmlReport(report));
  writeFileSync(join(folder, 'junit.xml'), junitReport(report));
}
