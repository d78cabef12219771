import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { RunSummary } from '../lib/run-summary.ts';
import { summaryMark } from '../lib/summary-mark.ts';
import { resultOf } from '../lib/summary-table.ts';
import { reportOf, writeReports } from './report.ts';
import { hasPassed } from './verdict.ts';

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
  writeReports(reportOf(runs), folder);
  console.error(runs.map((run) => `${run.scenario}, ${run.profile}: ${resultOf(run)}`).join('\n'));
  return runs.every(hasPassed);
}
