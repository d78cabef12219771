import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BuildInfo } from '../../config/build-info.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { ConnectionMetrics } from './connection-metrics.ts';
import { DatabaseMetrics } from './database-metrics.ts';
import { ExceptionMetrics } from './exception-metrics.ts';
import type { Exposition } from './exposition.ts';
import { HttpMetrics } from './http-metrics.ts';
import { JobMetrics } from './job-metrics.ts';
import { labelText, type MetricFamily, SeriesLimit } from './metric-family.ts';
import { ModuleMetrics } from './module-metrics.ts';
import { OutboundMetrics } from './outbound-metrics.ts';
import { OverloadMetrics } from './overload-metrics.ts';
import type { PoolCounts, ReplicaState } from './replica-metrics.ts';

/** What the metrics of a service begin with. */
interface MetricsOptions {
  /** Label combinations that each metric keeps at most. */
  seriesLimit: number;
  build: Pick<BuildInfo, 'version' | 'revision'>;
  /** The database's pool of connections; undefined while there is none. Asked at each scrape. */
  pool: () => PoolCounts | undefined;
  /** The replica that lists are read from; undefined while there is none. Asked at each scrape. */
  replica?: () => ReplicaState | undefined;
  /** Is told which metrics of modules had to be left out, and why. */
  log: { warn(line: object, message: string): void };
}

/** The metrics of one service, all at zero to begin with. */
export class Metrics {
  /** Connections that were refused or cut are counted here. */
  readonly connections = new ConnectionMetrics();
  /** Operations and reads are counted here. */
  readonly database: DatabaseMetrics;
  /** Calls of other services are counted here. */
  readonly outbound: OutboundMetrics;
  /** Runs of jobs are counted here. */
  readonly jobs: JobMetrics;
  /** Refused requests are counted here. */
  readonly overload: OverloadMetrics;
  /** Sees every request. */
  readonly observer: RequestObserver;
  /** Hears of every exception that answers a request. */
  readonly reporter: Reporter;
  /** Hears of every error that code reports by `reportError`. */
  readonly errorReporter: Reporter;
  /** What modules count. */
  readonly modules: ModuleMetrics;
  readonly #families: readonly MetricFamily[];
  /** Those about to be made, by whether they are in the OpenMetrics format. */
  readonly #scrapes = new Map<boolean, Promise<Exposition>>();

  constructor({ seriesLimit, build, pool, replica = () => undefined, log }: MetricsOptions) {
    this.modules = new ModuleMetrics(log);
    const limit = new SeriesLimit(seriesLimit);
    const http = new HttpMetrics(limit);
    const exceptions = new ExceptionMetrics(limit);
    this.database = new DatabaseMetrics(limit, pool, replica);
    this.outbound = new OutboundMetrics(limit);
    this.overload = new OverloadMetrics(limit);
    this.observer = http.observer;
    this.reporter = exceptions.reporter;
    this.errorReporter = exceptions.errorReporter;
    this.jobs = new JobMetrics(limit);
    const parts = [http, this.overload, this.connections, exceptions, this.database, this.outbound, this.jobs];
    this.#families = [...parts.flatMap((part) => part.families), limit.family, buildFamily(build)];
  }

  /** All metrics, each with its series as they are now. */
  async families(): Promise<MetricFamily[]> {
    const { promFamilies } = await import('./exposition.ts');
    return [...this.#families, ...(await promFamilies(this.#families, this.modules))];
  }

  /**
   * All metrics as text, in the format that the Accept header of a scrape prefers. Scrapes that come in one turn of the event
   * loop share the text: it may have thousands of lines, and any pod of a cluster may ask for it.
   */
  async text(accept?: string): Promise<Exposition> {
    // prom-client takes 40 ms to load, which no start waits for.
    const { exposition, prefersOpenMetrics } = await import('./exposition.ts');
    const open = prefersOpenMetrics(accept);
    const known = this.#scrapes.get(open);
    if (known !== undefined) return known;
    const scrape = nextTurn().then(() => {
      this.#scrapes.delete(open);
      return exposition(this.#families, this.modules, accept);
    });
    this.#scrapes.set(open, scrape);
    return scrape;
  }
}

function buildFamily({ version, revision }: MetricsOptions['build']): MetricFamily {
  return {
    name: 'build_info',
    help: 'What runs here: always 1.',
    type: 'gauge',
    samples: () => [{ labels: labelText({ version, revision }), value: 1 }],
  };
}
