import type { Redis } from 'ioredis';
import type { IRateLimiterOptions, RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Logger } from '../telemetry/logger.ts';
import type { Left, QuotaCounter } from './rate-limit.ts';

type Limiters = typeof import('rate-limiter-flexible');

/** How long Redis may take to answer before this process counts by itself. */
const redisMs = 250;
const longestPauseMs = 2000;

/** The connection to Redis, which may be away at any time. */
export class SharedCounts {
  readonly client: Redis;
  readonly #limiters: Limiters;
  readonly #logger: Logger;
  #away = false;

  static async open(url: string, logger: Logger): Promise<SharedCounts> {
    const [{ Redis: Client }, { default: limiters }] = await Promise.all([
      import('ioredis'),
      import('rate-limiter-flexible'),
    ]);
    return new SharedCounts(
      limiters,
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

  constructor(limiters: Limiters, client: Redis, logger: Logger) {
    this.#limiters = limiters;
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

  /** A counter in Redis; while that is away it counts in this process's memory. */
  counterFor(options: IRateLimiterOptions & { points: number; duration: number }): QuotaCounter {
    const memory = this.#toldOfUse(new this.#limiters.RateLimiterMemory(options));
    const limiter = new this.#limiters.RateLimiterRedis({
      ...options,
      storeClient: this.client,
      rejectIfRedisNotReady: true,
      // A client over its limit is refused without asking Redis each time.
      inMemoryBlockOnConsumed: options.points + 1,
      insuranceLimiter: memory,
    });
    const toRefused = (refused: RateLimiterRes | Error): RateLimiterRes => {
      if (refused instanceof Error) throw refused;
      // What is refused without asking Redis comes without its count.
      return Object.assign(refused, { consumedPoints: Math.max(refused.consumedPoints, options.points + 1) });
    };
    const windowMs = options.duration * 1000;
    const consume = async (key: string, points: number): Promise<Left> => {
      const found = await limiter.consume(key, points).catch(toRefused);
      const isCounted = isCount(found, points);
      // Whom it has refused would be refused without asking for as long as it said.
      if (!isCounted || found.msBeforeNext > windowMs) limiter.deleteInMemoryBlockedAll();
      const counted = isCounted ? found : await memory.consume(key, points).catch(toRefused);
      return { used: counted.consumedPoints, resetMs: Math.min(counted.msBeforeNext, windowMs) };
    };
    return { consume, known: (_key, last) => last };
  }

  /** The same limiter, whose use means that Redis gave no count: a connection that only looks alive is replaced. */
  #toldOfUse(memory: RateLimiterAbstract): RateLimiterAbstract {
    const consume = memory.consume.bind(memory);
    return Object.assign(memory, {
      consume: (...values: Parameters<typeof consume>) => {
        // Once for a connection: each time adds a timer and a listener to it until it has closed.
        if (this.client.status === 'ready' && !this.#away) {
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
    this.#logger.warn({ err: error }, 'Redis unavailable: rate limits counted per replica');
  }

  #return(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#logger.info('Redis recovered: rate limits shared again');
  }
}

/** Whether it is what Redis counts after it has added points: what is no number is never above a limit. */
function isCount({ consumedPoints, msBeforeNext }: RateLimiterRes, points: number): boolean {
  return consumedPoints >= points && Number.isFinite(msBeforeNext) && msBeforeNext >= 0;
}
