import { buildInfo } from '../config/build-info.ts';
import type { Environment } from '../config/environment.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';
import { type Quota, type QuotaCounter, WindowCounts } from './rate-limit.ts';
import { SharedCounts } from './shared-counts.ts';

type Settings = Pick<Environment, 'RATE_LIMIT_ENABLED' | 'REDIS_URL'> &
  Partial<Pick<Environment, 'OTEL_SERVICE_NAME' | 'SOURCE_REVISION'>>;

/** Where a service logs and counts the requests beyond a limit. */
export interface RateLimitStoreOptions {
  logger: Logger;
  metrics: Pick<OverloadMetrics, 'limited'>;
}

/** The rate limits of one service. */
export class RateLimitStore {
  /** Is told of each request beyond a limit. */
  readonly metrics: RateLimitStoreOptions['metrics'];
  readonly #logger: Logger;
  /** By name, so that the routers of a module's prefixes do not each give a client the whole quota. */
  readonly #counters = new Map<string, QuotaCounter>();
  #open: { shared: SharedCounts | undefined; service: string } | undefined;

  constructor({ logger, metrics }: RateLimitStoreOptions) {
    this.#logger = logger;
    this.metrics = metrics;
  }

  /**
   * Opens what counts requests: this process's memory or, with REDIS_URL, Redis, which replicas share. Only what is used
   * is loaded. Services that share a Redis are told apart by OTEL_SERVICE_NAME, else by the name in package.json. A start
   * does not wait for Redis: while it is away each replica counts by itself, and says so once.
   */
  async open(settings: Settings): Promise<void> {
    await this.close();
    if (!settings.RATE_LIMIT_ENABLED) return;
    const shared =
      settings.REDIS_URL === undefined ? undefined : await SharedCounts.open(settings.REDIS_URL, this.#logger);
    this.#open = { shared, service: settings.OTEL_SERVICE_NAME ?? buildInfo(settings).name };
  }

  /** Ends the connection to Redis, if there is one, and forgets all counts. */
  async close(): Promise<void> {
    this.#open?.shared?.close();
    this.#open = undefined;
    this.#counters.clear();
  }

  /** The counter of a quota, one for all of its name and window; undefined while rate limits are switched off. */
  counterFor({ name, points, seconds }: Quota): QuotaCounter | undefined {
    if (!this.#open) return undefined;
    const { shared, service } = this.#open;
    // In Redis a name has its counts there; what a counter refuses without asking depends on its points.
    const key = shared ? `${name} ${seconds} ${points}` : `${name} ${seconds}`;
    const counter =
      this.#counters.get(key) ??
      shared?.counterFor({ points, duration: seconds, keyPrefix: `${service}:rate:${name}` }) ??
      new WindowCounts(seconds);
    this.#counters.set(key, counter);
    return counter;
  }
}
