import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { RequestQueue } from './request-queue.ts';

/** Gets a connection, or why there is none. */
export type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A client whose queries are slow has this share of the connections at most, while others are there. */
const shareOfSlow = 0.5;

/**
 * A pool that lends its connections fairly, and knows the requests which wait for one. A connection that breaks fails the
 * query that uses it and leaves the pool.
 */
export class LendingPool extends Pool {
  readonly requests: RequestQueue;
  readonly #leave = new WeakMap<PoolClient, () => void>();

  constructor(config: PoolConfig) {
    super(config);
    // A broken connection is an 'error' event, of the pool or of the lent connection, which ends the process without a listener.
    this.on('error', () => undefined);
    this.on('connect', (client) => client.on('error', () => undefined));
    const places = this.options.max;
    const placesOfSlow = Math.max(1, Math.floor(places * shareOfSlow));
    this.requests = new RequestQueue({ places, placesOfSlow, timeoutMs: config.connectionTimeoutMillis || undefined });
    // The pool itself has no queue.
    Object.defineProperty(this, 'waitingCount', { get: () => this.requests.waitingQueries });
    this.on('release', (_error, client) => this.#leave.get(client)?.());
  }

  /** As the pool's own, in both of its forms. */
  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | undefined {
    const lent = this.#lend();
    if (!callback) return lent;
    lent.then(
      (client) => callback(undefined, client, (release) => client.release(release as boolean)),
      (error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #lend(): Promise<PoolClient> {
    const { opened, leave } = await this.requests.enter(() => super.connect());
    this.#leave.set(opened, leave);
    return opened;
  }
}
