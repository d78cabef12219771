import { PrismaPg } from '@prisma/adapter-pg';
import { type ClientBase, DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { currentWaiters, isAbandoned, type Waiter } from '../../context/request-context.ts';
import { cancelQuery, type RunningBackend, type RunningConnection, stopQuery } from './cancel-query.ts';
import { unitOfWorkPlace } from './costly-work.ts';
import { type Borrower, currentBorrower } from './current-work.ts';
import type { DatabaseTarget } from './database-url.ts';
import { type ReadLimits, ReadRoom } from './read-room.ts';
import { RequestQueue } from './request-queue.ts';
import { StatementNames } from './statement-names.ts';

/** Gets a connection, or why there is none. */
type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A connection, with the messages of its protocol. */
type WatchedClient = PoolClient & {
  readonly connection: Parameters<ReadRoom['watch']>[0] & {
    on(event: 'errorMessage', listener: (error: { code?: string }) => void): void;
  };
};

/** What is asked of sessions beside what each has. */
export interface Sessions {
  /** Begins a session. What it raises closes the connection. */
  begin(client: ClientBase): Promise<void>;
  /** Whether a connection that began may be lent. */
  serves(client: ClientBase): boolean;
}

/** The SQLSTATE of a write that the session's transactions do not allow. */
const readOnlyTransaction = '25006';

/** A client whose queries are slow has this share of the connections at most, while others are there; so have all costly requests. */
const shareOfSlow = 0.3;

interface LendingPoolOptions {
  /** Whether a connection may be lent. Default: each may. */
  readonly serves?: Sessions['serves'] | undefined;
  /** How much results may bring. Default: as much as they do. */
  readonly reads?: ReadLimits | undefined;
  /** Names the statements of its connections. Default: they have none. */
  readonly names?: StatementNames | undefined;
}

/**
 * A pool that lends its connections fairly, and knows the requests which wait for one. A connection that breaks fails the
 * query that uses it and leaves the pool, as does one whose session was found read-only or may keep too many statements.
 */
export class LendingPool extends Pool {
  readonly requests: RequestQueue;
  readonly #readOnly = new WeakSet<PoolClient>();
  readonly #leave = new WeakMap<PoolClient, () => void>();
  readonly #serves: Sessions['serves'] | undefined;

  constructor(config: PoolConfig, { serves, reads, names }: LendingPoolOptions = {}) {
    super(config);
    this.#serves = serves;
    const room = reads && new ReadRoom(reads);
    // A broken connection is an 'error' event, of the pool or of the lent connection, which ends the process without a listener.
    this.on('error', () => undefined);
    this.on('connect', (client) => {
      client.on('error', () => undefined);
      names?.opened(client);
      this.#watchForReadOnly(client as WatchedClient);
      room?.watch((client as WatchedClient).connection);
    });
    const places = this.options.max;
    const placesOfSlow = Math.max(1, Math.floor(places * shareOfSlow));
    this.requests = new RequestQueue({ places, placesOfSlow, timeoutMs: config.connectionTimeoutMillis || undefined });
    // The pool itself has no queue.
    Object.defineProperty(this, 'waitingCount', { get: () => this.requests.waitingQueries });
    this.on('release', (_error, client) => {
      // The pool keeps no connection that is ending.
      if (this.#readOnly.has(client) || names?.areTooManyFor(client)) void client.end();
      const leave = this.#leave.get(client);
      this.#leave.delete(client);
      leave?.();
    });
  }

  /** As the pool's own, in both of its forms. */
  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | undefined {
    const lent = this.lend();
    if (!callback) return lent;
    lent.then(
      (client) => callback(undefined, client, (release) => client.release(release as boolean)),
      (error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  /** Connections that do not serve any more are closed, until one does. */
  async #serving(): Promise<PoolClient> {
    for (;;) {
      const client = await super.connect();
      if (!this.#serves || this.#serves(client)) return client;
      client.release(true);
    }
  }

  /** A session keeps what it was told when it began: one of a time when the database was read-only stays so. */
  #watchForReadOnly(client: WatchedClient): void {
    client.connection.on('errorMessage', ({ code }) => {
      if (code === readOnlyTransaction) this.#readOnly.add(client);
    });
  }

  /** @param statement the read that the connection is for, or `unitOfWorkPlace`; undefined for a write */
  protected async lend(statement?: string): Promise<PoolClient> {
    const { opened, leave } = await this.requests.enter(() => this.#serving(), statement);
    this.#leave.set(opened, leave);
    return opened;
  }
}

type PostgresTarget = Extract<DatabaseTarget, { provider: 'postgresql' }>;

const inUtc = "SET TimeZone TO 'UTC'";

/** An adapter for PostgreSQL and the pool of connections behind it. */
interface PostgresConnection {
  readonly adapter: PrismaPg;
  readonly pool: Pool;
  /** The requests that wait for one of them. */
  readonly requests: RequestQueue;
}

/**
 * The driver adapter for PostgreSQL on a pool of its own; closing the client ends the pool. Opens no connection yet. Sessions
 * run in UTC, whatever the server's zone is: the adapter writes moments without a zone and ignores the one that it reads.
 */
export function connectPostgresql(
  target: PostgresTarget,
  limits: PoolConfig,
  { sessions, reads }: { sessions?: Sessions | undefined; reads?: ReadLimits | undefined } = {},
): PostgresConnection {
  const options = [!target.pgbouncer && '-c TimeZone=UTC', target.schema && `-c search_path="${target.schema}"`]
    .filter(Boolean)
    .join(' ');
  const config: PoolConfig = {
    connectionString: target.connectionString,
    application_name: 'slipway',
    keepAlive: true,
    ...limits,
    ...(options !== '' && { options }),
    // A pooler of transactions takes no options of a session, and refuses a client that sends a time-out of statements:
    // the role has that (docs/explanation/scale.md). It remembers the zone for its clients.
    ...(target.pgbouncer && { statement_timeout: false }),
    onConnect: async (client) => {
      if (target.pgbouncer) await client.query(inUtc);
      await sessions?.begin(client);
    },
  };
  const names = target.pgbouncer ? undefined : new StatementNames();
  const pool = new CancellingPool(config, { serves: sessions?.serves, reads, names });
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    ...(target.schema && { schema: target.schema }),
    ...(names && { statementNameGenerator: names.nameOf }),
  });
  return { adapter, pool, requests: pool.requests };
}

/** How often reads under way are looked at. */
const lookEveryMs = 250;

const read = /^\s*SELECT\b/i;

/** The SQLSTATEs with which the server ends a session. */
const endOfSession = /^(?:08|57P)/;

/** A read under way that may be cancelled. */
interface RunningRead {
  readonly client: PoolClient;
  readonly waiters: readonly Waiter[];
  /** Whether the server has acted upon the request to cancel it. */
  cancelled?: Promise<boolean>;
}

interface CancellingPoolOptions extends LendingPoolOptions {
  /** How often reads under way are looked at. */
  readonly everyMs?: number;
}

/**
 * A pool that cancels a read within a second after the last request that waits for it has been abandoned: it would hold
 * its connection until its end. Writes, queries of transactions and what runs in `uninterrupted` are never cancelled so.
 * The connection serves others only when it is certain that none of their queries can be hit.
 *
 * The borrower of a transaction's connection is given the means to stop its statement.
 */
export class CancellingPool extends LendingPool {
  /** No Set, which would keep reads that have ended: see `ClientUse.waiting`. */
  readonly #running: RunningRead[] = [];
  readonly #lookEveryMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(config: PoolConfig, { everyMs = lookEveryMs, ...lending }: CancellingPoolOptions = {}) {
    super(config, lending);
    this.#lookEveryMs = everyMs;
    Object.assign(this, { query: this.#queryOr(super.query.bind(this) as Query) });
  }

  /** As the pool's own, in both of its forms; the ORM takes the connections of its transactions in the first. */
  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | undefined {
    if (callback) return void super.connect(callback);
    const borrower = currentBorrower('connection');
    return borrower ? this.#lend(borrower) : super.connect();
  }

  async #lend(borrower: Borrower): Promise<PoolClient> {
    const client = await this.lend(unitOfWorkPlace);
    borrower.connection = { stop: (ended) => stopQuery(client as unknown as RunningConnection, ended) };
    return client;
  }

  /** The driver's own method has many forms; only the one that the ORM's adapter uses is taken over. */
  #queryOr(otherwise: Query): Query {
    return (config, ...more) =>
      more.length === 0 && isQueryConfig(config) ? this.#run(config) : otherwise(config, ...more);
  }

  /** As the driver's own, which however closes the connection of every query that fails, such as one for a taken name. */
  async #run(config: QueryConfig): Promise<unknown> {
    const waiters = currentWaiters();
    const isRead = read.test(config.text);
    const client = await this.lend(isRead ? config.text : undefined);
    const running: RunningRead | undefined = waiters[0] && isRead ? { client, waiters } : undefined;
    if (running) this.#watch(running);
    let broken: Error | undefined;
    try {
      return await client.query(config);
    } catch (error) {
      if (!(error instanceof DatabaseError) || endOfSession.test(error.code ?? '')) broken = error as Error;
      throw error;
    } finally {
      if (running) this.#running.splice(this.#running.indexOf(running), 1);
      const certain = running?.cancelled === undefined || (await running.cancelled);
      client.release(broken ?? !certain);
    }
  }

  #watch(running: RunningRead): void {
    this.#running.push(running);
    this.#timer ??= setInterval(() => this.#look(), this.#lookEveryMs).unref();
  }

  #look(): void {
    if (this.#running.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const running of this.#running) {
      if (running.cancelled || !isAbandoned(running.waiters)) continue;
      running.cancelled = cancelQuery(running.client as unknown as RunningBackend);
    }
  }
}

type Query = (config: QueryConfig, ...more: unknown[]) => Promise<unknown>;

function isQueryConfig(config: unknown): config is QueryConfig {
  return typeof config === 'object' && config !== null && 'text' in config;
}
