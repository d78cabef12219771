import type { BuildInfo } from '../../config/build-info.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { DatabaseMetrics, type PoolCounts } from './database-metrics.ts';
import { ExceptionMetrics } from './exception-metrics.ts';
import type { Exposition } from './exposition.ts';
import { HttpMetrics } from './http-metrics.ts';
import { labelText, type MetricFamily } from './metric-family.ts';
import { OverloadMetrics } from './overload-metrics.ts';
import { SeriesLimit } from './series.ts';

/** What the metrics of a service begin with. */
export interface MetricsOptions {
  /** Label combinations that each metric keeps at most. */
  seriesLimit: number;
  build: Pick<BuildInfo, 'version' | 'revision'>;
  /** The database's pool of connections; undefined while there is none. Asked at each scrape. */
  pool: () => PoolCounts | undefined;
}

/** Where the metrics of a service are fed from. */
export interface Metrics {
  /** Sees every request. */
  observer: RequestObserver;
  /** Hears of every exception. */
  reporter: Reporter;
  /** Refused requests are counted here. */
  overload: OverloadMetrics;
}

let current: { families: readonly MetricFamily[]; database: DatabaseMetrics; overload: OverloadMetrics } | undefined;

/** Begins the metrics of a service, all at zero; those of an earlier start in this process are forgotten. */
export function startMetrics({ seriesLimit, build, pool }: MetricsOptions): Metrics {
  const limit = new SeriesLimit(seriesLimit);
  const http = new HttpMetrics(limit);
  const exceptions = new ExceptionMetrics(limit);
  const database = new DatabaseMetrics(limit, pool);
  const overload = new OverloadMetrics(limit);
  const parts = [http, overload, { families: [exceptions.family] }, database];
  const families = [...parts.flatMap((part) => part.families), limit.family, buildFamily(build)];
  current = { families, database, overload };
  return { observer: http.observer, reporter: exceptions.reporter, overload };
}

/** All metrics as text, in the format that the Accept header of a scrape prefers. */
export async function metricsText(accept?: string): Promise<Exposition> {
  // prom-client takes 40 ms to load, which no start waits for.
  const { exposition } = await import('./exposition.ts');
  return exposition(current?.families ?? [], accept);
}

/** Counts one database operation, by milliseconds of `performance.now()` at its beginning. */
export function countQuery(model: string | undefined, operation: string, started: number): void {
  current?.database.queried(model, operation, (performance.now() - started) / 1000);
}

/** Counts one read that was answered by an equal read beside it. */
export function countCoalescedRead(): void {
  current?.database.coalesced();
}

/** Counts one request that was beyond the rate limit of this name. */
export function countRateLimited(policy: string): void {
  current?.overload.limited(policy);
}

function buildFamily({ version, revision }: MetricsOptions['build']): MetricFamily {
  return {
    name: 'build_info',
    help: 'What runs here: always 1.',
    type: 'gauge',
    samples: () => [{ labels: labelText({ version, revision }), value: 1 }],
  };
}
