import type { Origin } from './origin.ts';

/** What is kept of a run: one row of the table. k6 writes it, and the command and end-to-end tests read it. */
export interface RunSummary {
  scenario: string;
  /** Path of the list. */
  resource: string;
  /** Records of the list when the run began. */
  records: number;
  profile: string;
  /** Iterations per second at the height of the profile, or users of a closed one, and for how many seconds. */
  height: { rate: number; seconds: number };
  /** When it began, ISO 8601. */
  started: string;
  origin: Origin;
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
  /** Received for each request, headers included. */
  bytes: number;
  /** Iterations in each second, from the first to the last. */
  rate: number;
  /** The most requests a second that held all thresholds, where a run looked for that; the command finds it. */
  held?: number;
  /** Thresholds that were crossed. */
  crossed: string[];
  checks: { name: string; passes: number; fails: number }[];
  thresholds: { name: string; ok: boolean }[];
  /** Requests by name, of scenarios with several kinds. */
  parts: { name: string; requests: number; median: number; p95: number; p99: number }[];
}

interface Metric {
  values: Record<string, number>;
  thresholds?: Record<string, { ok: boolean }>;
}

/** What k6 gives to `handleSummary`, as far as it is read. */
export interface SummaryData {
  state: { testRunDurationMs: number };
  metrics: Record<string, Metric>;
  root_group?: { checks?: { name: string; passes: number; fails: number }[] };
  setup_data?: { resource?: { path: string }; total?: number; version?: string };
}

/** Which run it was that is summed up. */
type Known = Pick<RunSummary, 'scenario' | 'profile' | 'height' | 'origin'>;

/** Sums up what k6 counted, when the run ends. */
export function summarize({ scenario, profile, height, origin }: Known, data: SummaryData): RunSummary {
  const { state, metrics, setup_data: world } = data;
  // What the setup asked for is no part of the journey.
  const value = (metric: string, name: string) =>
    (metrics[`${metric}{scenario:${scenario}}`] ?? metrics[metric])?.values[name] ?? 0;
  const time = (name: string) => round(value('http_req_duration', name));
  const failures = metrics['failed_at'] ? value('failed_at', 'max') - value('failed_at', 'min') : 0;
  const [seconds, requests] = [state.testRunDurationMs / 1000, value('http_reqs', 'count')];
  return {
    scenario,
    resource: world?.resource?.path ?? '',
    records: world?.total ?? 0,
    ...{ profile, height },
    started: new Date(Date.now() - state.testRunDurationMs).toISOString(),
    origin: { ...origin, version: world?.version ?? 'unknown' },
    seconds: round(seconds),
    requests,
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
    bytes: Math.round(value('data_received', 'count') / Math.max(1, requests)),
    rate: round(value('iterations', 'count') / Math.max(0.001, seconds)),
    ...judged(metrics),
    checks: (data.root_group?.checks ?? []).map(({ name, passes, fails }) => ({ name, passes, fails })),
    parts: partsOf(metrics),
  };
}

/** Thresholds that always hold: they have k6 count something by itself, and judge nothing. */
const countsOnly = ['p(99)>=0', 'count>=0'];

function judged(metrics: Record<string, Metric>): Pick<RunSummary, 'thresholds' | 'crossed'> {
  const thresholds = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds)
      .filter(([threshold]) => !countsOnly.includes(threshold))
      .map(([threshold, { ok }]) => ({ name: `${metric.replace(/\{scenario:.*\}/, '')} ${threshold}`, ok })),
  );
  return { thresholds, crossed: thresholds.filter(({ ok }) => !ok).map(({ name }) => name) };
}

function partsOf(metrics: Record<string, Metric>): RunSummary['parts'] {
  return Object.entries(metrics).flatMap(([metric, { values }]) => {
    const [, name] = /^http_req_duration\{name:(.*)\}$/.exec(metric) ?? [];
    if (name === undefined || !values['count']) return [];
    const time = (key: string) => round(values[key] ?? 0);
    return [{ name, requests: values['count'], median: time('med'), p95: time('p(95)'), p99: time('p(99)') }];
  });
}

function round(number: number): number {
  return Math.round(10 * number) / 10;
}
