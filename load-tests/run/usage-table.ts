import { listName, textTable } from '../lib/summary-table.ts';
import type { MeasuredRun, Usage } from './k6.ts';

/** What each run used of CPU and memory, and what one core could do by that; empty where nothing was measured. */
export function usageTable(runs: readonly MeasuredRun[]): string {
  const rows = runs.flatMap(({ used, ...run }) => (used ? [{ ...run, used }] : []));
  if (rows.length === 0) return '';
  const table = textTable<MeasuredRun & { used: Usage }>(
    [
      ['scenario', ({ scenario }) => scenario],
      ['list', listName],
      ['service ms/request', ({ used }) => used.service],
      ['database ms/request', ({ used }) => used.database || '-'],
      ['requests per core and s', ({ used }) => (used.service > 0 ? Math.round(1000 / used.service) : '-')],
      ['MiB', ({ used }) => used.memory],
      ['', () => ''],
    ],
    rows,
    2,
  );
  return `\nCPU of a request, and the memory of the service after the run\n${table}`;
}
