import type { RunSummary } from './run-summary.ts';

type Column<T> = readonly [title: string, cell: (row: T, rows: readonly T[]) => string | number];

/** What a run is told by: three columns of words, numbers, and the result in words. */
export const columns: readonly Column<RunSummary>[] = [
  ['scenario', (run) => run.scenario],
  ['list', listName],
  ['profile', (run) => run.profile],
  ['requests', (run) => run.requests],
  ['per s', (run) => Math.round(run.requests / Math.max(0.1, run.seconds))],
  ['failed', (run) => run.failed],
  ['refused', (run) => run.refused],
  ['dropped', (run) => run.dropped],
  ['checks failed', (run) => run.checksFailed],
  ['median ms', (run) => run.median],
  ['p95 ms', (run) => run.p95],
  ['p99 ms', (run) => run.p99],
  ['max ms', (run) => run.max],
  ['result', resultOf],
];

/** A run that ended without a summary. */
export interface UnmeasuredRun {
  readonly scenario: string;
  /** Path of the list; empty where it was left to k6. */
  readonly resource: string;
  readonly profile: string;
  /** When it began, ISO 8601. */
  readonly started: string;
  readonly reason: string;
}

/** The runs as a table, a line each. One that ended without a summary has a reason in place of numbers. */
export function summaryTable(runs: readonly RunSummary[], unmeasured: readonly UnmeasuredRun[] = []): string {
  const shown = columns.map(([title, cell], index): Column<RunSummary | UnmeasuredRun> => {
    const words = [({ scenario }: UnmeasuredRun) => scenario, listName, ({ profile }: UnmeasuredRun) => profile];
    const instead = words[index] ?? ((run: UnmeasuredRun) => (title === 'result' ? `NO SUMMARY: ${run.reason}` : '-'));
    return [title, (run, rows) => ('reason' in run ? instead(run, rows as never) : cell(run, runs))];
  });
  return textTable(shown, [...runs, ...unmeasured], 3);
}

/** The last part of the path of a list, or the whole path where another list of the table ends so too. */
export function listName<T extends { readonly resource: string }>({ resource }: T, rows: readonly T[]): string {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const isAmbiguous = rows.some((other) => other.resource !== resource && last(other.resource) === last(resource));
  return isAmbiguous ? resource : last(resource);
}

/** What came of a run in words: the rate at which it broke, where that was looked for, or what was not as it should be. */
export function resultOf(run: RunSummary): string {
  if (run.profile === 'breakpoint') return breakingPoint(run);
  return run.crossed.length === 0 ? 'ok' : `CROSSED: ${run.crossed.join('; ')}`;
}

function breakingPoint({ held, crossed }: RunSummary): string {
  const most = held === undefined ? '' : `held ${held} requests/s; `;
  return `${most}broke: ${crossed.join('; ') || 'not within the run'}`;
}

/** Rows as lines of equal columns: the first `words` and the last to the left, numbers to the right. */
export function textTable<T>(shown: readonly Column<T>[], all: readonly T[], words: number): string {
  const rows = [shown.map(([title]) => title), ...all.map((row) => shown.map(([, cell]) => String(cell(row, all))))];
  const widths = shown.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const isText = (column: number) => column < words || column === shown.length - 1;
  const line = (row: string[]) =>
    row.map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)));
  return `${rows.map((row) => line(row).join('  ').trimEnd()).join('\n')}\n`;
}
