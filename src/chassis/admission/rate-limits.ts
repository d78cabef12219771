import type { Redis } from 'ioredis';
import type { IRateLimiterOptions, RateLimiterAbstract } from 'rate-limiter-flexible';
import { buildInfo } from '../config/build-info.ts';
import type { Environment } from '../config/environment.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';

type Settings = Pick<Environment, 'RATE_LIMIT_ENABLED' | 'REDIS_URL'> &
  Partial<Pick<Environment, 'OTEL_SERVICE_NAME' | 'SOURCE_REVISION'>>;
type Limiters = typeof import('rate-limiter-flexible');

/** What is counted: `points` within `seconds`, under a name of its own. */
export interface Quota {
  name: string;
  points: number;
  seconds: number;
}

/** How long Redis may take to answer before this process counts by itself. */
const redisMs = 250;
const longestPauseMs = 2000;

/** What a service counts requests with, and whom it tells of those beyond a limit. */
export interface RateLimitsOptions {
  logger: Logger;
  metrics: Pick<OverloadMetrics, 'limited'>;
}

/** The rate limits of one service. */
export class RateLimits {
  /** Is told of each request beyond a limit. */
  readonly metrics: RateLimitsOptions['metrics'];
  readonly #logger: Logger;
  #open: { limiters: Limiters; redis: SharedCounts | undefined; service: string } | undefined;

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
    const { default: limiters } = await import('rate-limiter-flexible');
    const redis =
      settings.REDIS_URL === undefined ? undefined : await SharedCounts.open(settings.REDIS_URL, this.#logger);
    this.#open = { limiters, redis, service: settings.OTEL_SERVICE_NAME ?? buildInfo(settings).name };
  }

  /** Ends the connection to Redis, if there is one, and forgets all counts. */
  async close(): Promise<void> {
    this.#open?.redis?.close();
    this.#open = undefined;
  }

  /** A counter for one quota; undefined while rate limits are switched off. */
  limiterFor({ name, points, seconds }: Quota): RateLimiterAbstract | undefined {
    if (!this.#open) return undefined;
    const { limiters, redis, service } = this.#open;
    const options: IRateLimiterOptions = { points, duration: seconds, keyPrefix: `${service}:rate:${name}` };
    const memory = new limiters.RateLimiterMemory(options);
    if (!redis) return memory;
    return new limiters.RateLimiterRedis({
      ...options,
      storeClient: redis.client,
      rejectIfRedisNotReady: true,
      // Who is over the limit is refused without asking Redis each time.
      inMemoryBlockOnConsumed: points + 1,
      insuranceLimiter: redis.toldOfUse(memory),
    });
  }
}

/** The connection to Redis, which may be away at any time. */
class SharedCounts {
  readonly client: Redis;
  readonly #logger: Logger;
  #away = false;

  static async open(url: string, logger: Logger): Promise<SharedCounts> {
    const { Redis: Client } = await import('ioredis');
    return new SharedCounts(
      new Client(url, {
        commandTimeout: redisMs,
        connectTimeout: longestPauseMs,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        retryStrategy: (attempt) => Math.min(attempt * 100, longestPauseMs),
      }),
      logger,
    );
  }

  constructor(client: Redis, logger: Logger) {
    this.client = client;
    this.#logger = logger;
    client.on('error', (error) => this.#leave(error));
    client.on('close', () => this.#leave());
    client.on('ready', () => this.#return());
  }

  close(): void {
    this.client.removeAllListeners('close');
    this.client.disconnect();
  }

  /** The same limiter, whose use means that Redis did not answer: a connection that only looks alive is made anew. */
  toldOfUse(memory: RateLimiterAbstract): RateLimiterAbstract {
    const consume = memory.consume.bind(memory);
    return Object.assign(memory, {
      consume: (...values: Parameters<typeof consume>) => {
        if (this.client.status === 'ready') {
          this.#leave();
          this.client.disconnect(true);
        }
        return consume(...values);
      },
    });
  }

  #leave(error?: Error): void {
    if (this.#away) return;
    this.#away = true;
    this.#logger.warn({ err: error }, 'Redis is away: each replica counts its rate limits by itself');
  }

  #return(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#logger.info('Redis is back: replicas share their rate limits again');
  }
}
