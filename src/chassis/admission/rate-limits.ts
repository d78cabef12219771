import { buildInfo } from '../config/build-info.ts';
import type { Environment } from '../config/environment.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';
import { SharedCounts } from './shared-counts.ts';

type Settings = Pick<Environment, 'RATE_LIMIT_ENABLED' | 'REDIS_URL'> &
  Partial<Pick<Environment, 'OTEL_SERVICE_NAME' | 'SOURCE_REVISION'>>;

/** Counts the points of one quota. */
export interface QuotaCounter {
  /** Takes points of a key, whether there are any or not; a promise only where another process has to be asked. */
  consume(key: string, points: number): Left | Promise<Left>;
  /** What is left of a key, as far as is known without asking anybody. */
  known(key: string, last: Left): Left;
}

/** What is counted: `points` within `seconds`, under a name of its own. */
export interface Quota {
  name: string;
  points: number;
  seconds: number;
}

/** Where a service logs and counts the requests beyond a limit. */
export interface RateLimitsOptions {
  logger: Logger;
  metrics: Pick<OverloadMetrics, 'limited'>;
}

/** The rate limits of one service. */
export class RateLimits {
  /** Is told of each request beyond a limit. */
  readonly metrics: RateLimitsOptions['metrics'];
  readonly #logger: Logger;
  #open: { shared: SharedCounts | undefined; service: string } | undefined;

  constructor({ logger, metrics }: RateLimitsOptions) {
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
  }

  /** A counter for one quota; undefined while rate limits are switched off. */
  counterFor({ name, points, seconds }: Quota): QuotaCounter | undefined {
    if (!this.#open) return undefined;
    const { shared, service } = this.#open;
    if (!shared) return new WindowCounts(seconds);
    return shared.counterFor({ points, duration: seconds, keyPrefix: `${service}:rate:${name}` });
  }
}

/** What is left of a quota after a request. */
export interface Left {
  /** Points used within the window, this request's among them. */
  used: number;
  /** Milliseconds until the window ends and all points are back. */
  resetMs: number;
}

/**
 * Counts points by key in this process's memory, in a window that begins with a key's first request. Answers at once: no
 * promise is made for a request. What has ended makes room when the next key comes.
 */
export class WindowCounts {
  readonly #windowMs: number;
  /** In the order of their ends, because all windows have one length. */
  readonly #windows = new Map<string, { used: number; endsAt: number }>();

  /** @param seconds the length of the window */
  constructor(seconds: number) {
    this.#windowMs = seconds * 1000;
  }

  /** Keys whose window has not been seen to end. */
  get size(): number {
    return this.#windows.size;
  }

  /** Takes points of a key, whether there are any or not. */
  consume(key: string, points: number): Left {
    const now = Date.now();
    const window = this.#windows.get(key);
    if (window !== undefined && window.endsAt > now) {
      window.used += points;
      return { used: window.used, resetMs: window.endsAt - now };
    }
    this.#windows.delete(key);
    this.#dropEnded(now);
    this.#windows.set(key, { used: points, endsAt: now + this.#windowMs });
    return { used: points, resetMs: this.#windowMs };
  }

  /** What is used of a key now. */
  known(key: string): Left {
    const now = Date.now();
    const window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) return { used: 0, resetMs: this.#windowMs };
    return { used: window.used, resetMs: window.endsAt - now };
  }

  #dropEnded(now: number): void {
    for (const [key, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(key);
    }
  }
}
