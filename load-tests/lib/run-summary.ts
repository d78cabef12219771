/** What is kept of a run: one row of the table. k6 writes it and run.ts and end-to-end tests read it, so it imports nothing. */
export interface RunSummary {
  scenario: string;
  profile: string;
  seconds: number;
  requests: number;
  failed: number;
  /** Of the failed: answers that say "not now" (503 and 429). */
  refused: number;
  /** Seconds from the first failure to the last. */
  outage: number;
  dropped: number;
  checksFailed: number;
  /** Milliseconds. */
  median: number;
  p95: number;
  p99: number;
  max: number;
  /** Thresholds that were crossed. */
  crossed: string[];
}

interface Metric {
  values: Record<string, number>;
  thresholds?: Record<string, { ok: boolean }>;
}

/** What k6 gives to `handleSummary`, as far as it is read. */
export interface SummaryData {
  state: { testRunDurationMs: number };
  metrics: Record<string, Metric>;
}

/** Sums up what k6 counted. */
export function summarize(scenario: string, profile: string, { state, metrics }: SummaryData): RunSummary {
  const value = (metric: string, name: string) => metrics[metric]?.values[name] ?? 0;
  const time = (name: string) => round(value('http_req_duration', name));
  const failures = metrics['failed_at'] ? value('failed_at', 'max') - value('failed_at', 'min') : 0;
  return {
    scenario,
    profile,
    seconds: round(state.testRunDurationMs / 1000),
    requests: value('http_reqs', 'count'),
    // A rate counts what it is the rate of as passes.
    failed: value('http_req_failed', 'passes'),
    refused: value('refused_requests', 'count'),
    outage: round(failures / 1000),
    dropped: value('dropped_iterations', 'count'),
    checksFailed: value('checks', 'fails'),
    median: time('med'),
    p95: time('p(95)'),
    p99: time('p(99)'),
    max: time('max'),
    crossed: crossedThresholds(metrics),
  };
}

function crossedThresholds(metrics: Record<string, Metric>): string[] {
  return Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([threshold, { ok }]) => (ok ? [] : [`${metric} ${threshold}`])),
  );
}

function round(number: number): number {
  return Math.round(10 * number) / 10;
}

const columns: [title: string, cell: (run: RunSummary) => string | number][] = [
  ['scenario', (run) => run.scenario],
  ['profile', (run) => run.profile],
  ['requests', (run) => run.requests],
  ['per s', (run) => Math.round(run.requests / run.seconds)],
  ['failed', (run) => run.failed],
  ['dropped', (run) => run.dropped],
  ['checks failed', (run) => run.checksFailed],
  ['median ms', (run) => run.median],
  ['p95 ms', (run) => run.p95],
  ['p99 ms', (run) => run.p99],
  ['max ms', (run) => run.max],
  ['result', (run) => (run.crossed.length === 0 ? 'ok' : `CROSSED: ${run.crossed.join('; ')}`)],
];

/** The runs as a table, a line each. */
export function summaryTable(runs: readonly RunSummary[]): string {
  const rows = [columns.map(([title]) => title), ...runs.map((run) => columns.map(([, cell]) => String(cell(run))))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, column))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** Words to the left, numbers to the right. */
function pad(cell: string, width: number, column: number): string {
  return column < 2 || column === columns.length - 1 ? cell.padEnd(width) : cell.padStart(width);
}
