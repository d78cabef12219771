import { existsSync, readFileSync } from 'node:fs';

/** What k6 measured of a scenario within one second. */
export interface Second {
  /** Seconds since the run began; the first ones may be its setup, in which nothing is measured. */
  readonly at: number;
  readonly requests: number;
  readonly failed: number;
  readonly dropped: number;
  readonly users: number;
  /** Milliseconds; none where nothing was answered. */
  readonly median?: number;
  readonly p95?: number;
  readonly p99?: number;
}

interface Event {
  event: string;
  data: unknown;
}

/**
 * Reads what the dashboard of k6 recorded: one line for each event. A `metric` names metrics, a `snapshot` has what each
 * aggregated within a period, sorted by the names of all metrics that were named before it.
 *
 * @param file the recording; where there is none, there are no seconds
 * @param scenario whose requests are counted: those of the setup, which takes as long as it may, are no part of it
 */
export function readSeries(file: string, scenario: string): Second[] {
  if (!existsSync(file)) return [];
  const events = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Event);
  const names = new Set<string>();
  let aggregates: Record<string, string[]> = {};
  let types: Record<string, string> = {};
  const seconds: Second[] = [];
  let start: number | undefined;
  for (const { event, data } of events) {
    if (event === 'param') aggregates = (data as { aggregates: typeof aggregates }).aggregates;
    if (event === 'start') start = (data as number[][])[0]?.[0];
    if (event === 'metric') {
      const metrics = data as Record<string, { type: string }>;
      types = { ...types, ...Object.fromEntries(Object.entries(metrics).map(([name, { type }]) => [name, type])) };
      for (const name of Object.keys(metrics)) names.add(name);
    }
    if (event !== 'snapshot') continue;
    const values = [...names].toSorted().map((name, index) => [name, (data as number[][])[index] ?? []] as const);
    const metrics = Object.fromEntries(values);
    const read = (name: string, aggregate: string) =>
      metrics[name]?.[aggregates[types[name] ?? '']?.indexOf(aggregate) ?? -1];
    const own = (name: string, aggregate: string) => read(`${name}{scenario:${scenario}}`, aggregate);
    seconds.push(secondOf(read, own, start ?? 0));
  }
  return seconds;
}

type Read = (metric: string, aggregate: string) => number | undefined;

function secondOf(read: Read, own: Read, start: number): Second {
  const time = (name: string) => own('http_req_duration', name);
  const [median, p95, p99] = [time('med'), time('p(95)'), time('p(99)')];
  const requests = own('http_reqs', 'count') ?? 0;
  return {
    at: Math.round(((read('time', 'value') ?? start) - start) / 100) / 10,
    requests,
    failed: Math.round((own('http_req_failed', 'rate') ?? 0) * requests),
    dropped: own('dropped_iterations', 'count') ?? 0,
    users: read('vus', 'value') ?? 0,
    ...(median !== undefined && { median }),
    ...(p95 !== undefined && { p95 }),
    ...(p99 !== undefined && { p99 }),
  };
}
