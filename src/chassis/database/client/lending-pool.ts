import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { RequestQueue } from './request-queue.ts';

/** Gets a connection, or why there is none. */
export type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A connection, with the messages of its protocol. */
type WatchedClient = PoolClient & {
  readonly connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void };
};

/** The SQLSTATE of a write that the session's transactions do not allow. */
const readOnlyTransaction = '25006';

/** A client whose queries are slow has this share of the connections at most, while others are there. */
const shareOfSlow = 0.5;

/**
 * A pool that lends its connections fairly, and knows the requests which wait for one. A connection that breaks fails the
 * query that uses it and leaves the pool, as does one whose session was found read-only.
 */
export class LendingPool extends Pool {
  readonly requests: RequestQueue;
  readonly #readOnly = new WeakSet<PoolClient>();
  readonly #leave = new WeakMap<PoolClient, () => void>();

  constructor(config: PoolConfig) {
    super(config);
    // A broken connection is an 'error' event, of the pool or of the lent connection, which ends the process without a listener.
    this.on('error', () => undefined);
    this.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#watchForReadOnly(client as WatchedClient);
    });
    const places = this.options.max;
    const placesOfSlow = Math.max(1, Math.floor(places * shareOfSlow));
    this.requests = new RequestQueue({ places, placesOfSlow, timeoutMs: config.connectionTimeoutMillis || undefined });
    // The pool itself has no queue.
    Object.defineProperty(this, 'waitingCount', { get: () => this.requests.waitingQueries });
    this.on('release', (_error, client) => {
      // The pool keeps no connection that is ending.
      if (this.#readOnly.has(client)) void client.end();
      this.#leave.get(client)?.();
    });
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

  /** A session keeps what it was told when it began: one of a time when the database was read-only stays so. */
  #watchForReadOnly(client: WatchedClient): void {
    client.connection.on('errorMessage', ({ code }) => {
      if (code === readOnlyTransaction) this.#readOnly.add(client);
    });
  }

  async #lend(): Promise<PoolClient> {
    const { opened, leave } = await this.requests.enter(() => super.connect());
    this.#leave.set(opened, leave);
    return opened;
  }
}
