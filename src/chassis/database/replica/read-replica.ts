import type { ClientBase } from 'pg';
import { currentShare, getRequestContext } from '../../context/request-context.ts';
import { BaseException, DatabaseException } from '../../errors/exceptions.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { ranIntoTimeLimit } from '../client/classify-database-error.ts';
import type { DatabaseCounts } from '../client/current-work.ts';
import { databaseKindOf, type ReadPlace } from '../client/database-kind.ts';
import { parseDatabaseUrl } from '../client/database-url.ts';
import { type DatabaseSettings, type OpenOrm, openDatabase } from '../client/orm.ts';
import type { ReadLimits } from '../client/read-room.ts';
import type { ModelRules } from '../scope/model-rules.ts';
import { atMost, ReplicaProgress } from './replica-progress.ts';

/** How often the servers are asked while nobody reads. */
const lookEveryMs = 1000;
/** How long a start waits for it: where it hangs, lists are read from the primary until a later look finds it well. */
const startMs = 500;
/** For how long it is not used after its name has led to another server. */
const avoidMs = 30_000;

const askServer = 'SELECT pg_postmaster_start_time()::text AS server';

/** What a replica is made with. */
export interface ReplicaOptions {
  readonly settings: DatabaseSettings & { readonly DATABASE_READ_URL: string };
  /** The rules of the models, which are those of the primary. */
  readonly rules: ModelRules;
  readonly counts: DatabaseCounts;
  /** How much results may bring. Default: as much as they do. */
  readonly reads?: ReadLimits | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Why a list is not read from the replica. */
type Obstacle = 'behind' | 'busy' | 'down';

/**
 * Reads lists from a streaming replica, where that makes no difference to who asks: the replica has replayed all that the
 * primary had committed when the list was asked for (docs/decisions/0032). Else, and when the read fails there, the
 * primary is read, and that is counted.
 */
export class ReadReplica {
  readonly #options: ReplicaOptions;
  readonly #progress: ReplicaProgress;
  readonly #sessions = new WeakMap<ClientBase, string>();
  readonly #connections = new Set<ClientBase>();
  #open: OpenOrm | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;
  #state: 'used' | 'behind' | 'down' | undefined;
  /** Where the primary was at the last look. */
  #seen = 0n;
  /** What the replica did not reach in time: until it has, nobody waits for it again. */
  #missed = 0n;
  #avoidedUntil = 0;

  private constructor(options: ReplicaOptions) {
    const { DATABASE_URL, DATABASE_READ_URL } = options.settings;
    this.#options = options;
    this.#progress = new ReplicaProgress(DATABASE_URL, DATABASE_READ_URL);
  }

  /** Connects, and goes on trying where that fails or takes longer than half a second. */
  static async open(options: ReplicaOptions): Promise<ReadReplica> {
    const replica = new ReadReplica(options);
    await atMost(replica.look(), startMs);
    replica.#timer = setInterval(() => void replica.look(), lookEveryMs).unref();
    return replica;
  }

  /** Whether lists are read there. */
  get isUsed(): boolean {
    return this.#state === 'used';
  }

  /** For how long it has lacked something that the primary had, in seconds. */
  get lagSeconds(): number {
    return this.#progress.lag.seconds(performance.now());
  }

  /** Its connections; undefined until it was there once. */
  get pool(): OpenOrm['pool'] {
    return this.#open?.pool;
  }

  /**
   * Runs a read there, or `here` where that would show less than the primary has, or fails.
   *
   * @throws what the read raises
   */
  async read<T>(there: (place: ReadPlace) => Promise<T>, here: () => Promise<T>): Promise<T> {
    const count = (outcome: Obstacle | 'replica' | 'failed') => this.#options.counts.readFromReplica?.(outcome);
    const obstacle = await this.#obstacle();
    const client = this.#open?.client;
    if (obstacle || !client) {
      count(obstacle ?? 'down');
      return here();
    }
    const { server } = this.#progress;
    try {
      const found = await this.#named(() => there({ client, kind: databaseKindOf(client) }));
      // The name may lead to another server by now, which is not known to have it all.
      if (this.#progress.server !== server) throw new Error('another server');
      count('replica');
      return found;
    } catch (error) {
      if (!isOfServer(error)) throw error;
      count('failed');
      return here();
    }
  }

  /** Looks how both servers are; never raises. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#progress.close();
    await this.#looking;
    // One that was opened meanwhile.
    this.#progress.close();
    await this.#open?.close();
  }

  async #look(): Promise<void> {
    if (this.#closed || performance.now() < this.#avoidedUntil) return;
    const before = this.#seen;
    try {
      this.#seen = await this.#progress.lookAtPrimary();
    } catch (error) {
      this.#stop(`no position of the primary: ${(error as Error).message}`);
      return;
    }
    try {
      await this.#progress.lookAtReplica();
      this.#open ??= await this.#connect();
      // It may lack what came since the look before.
      this.#enter(this.#progress.replayed >= before ? 'used' : 'behind');
    } catch (error) {
      this.#stop((error as Error).message);
      // What is read there now is gone with it, and is read from the primary.
      for (const client of this.#connections) cut(client);
    }
  }

  async #obstacle(): Promise<Obstacle | undefined> {
    if (this.#state === 'down' || !this.#open) return 'down';
    const { totalCount = 0, idleCount = 0, options } = this.#open.pool ?? {};
    if (totalCount - idleCount >= (options?.max ?? 0)) return 'busy';
    const progress = this.#progress;
    // Who asks after the position may have written behind it.
    currentShare()?.close();
    try {
      const needed = await progress.ofPrimary();
      if (progress.replayed >= needed) return undefined;
      if (progress.replayed < this.#missed) return 'behind';
      if (await progress.reaches(needed, this.#options.settings.DATABASE_READ_WAIT_MS ?? 0)) return undefined;
      this.#missed = needed;
      return 'behind';
    } catch {
      // The next look says why; what it means to the caller the read of the primary says.
      return 'down';
    }
  }

  #connect(): Promise<OpenOrm> {
    const { settings, counts, rules, reads } = this.#options;
    const replica = { ...settings, DATABASE_URL: settings.DATABASE_READ_URL };
    const serves = (client: ClientBase) => this.#sessions.get(client) === this.#progress.server;
    return openDatabase(replica, {
      counts,
      rules,
      reads,
      sessions: { begin: (client) => this.#begin(client), serves },
    });
  }

  /** A name can lead to several servers, of which only one is asked how far it is. */
  async #begin(client: ClientBase): Promise<void> {
    this.#connections.add(client);
    client.once('end', () => this.#connections.delete(client));
    const { rows } = await client.query<{ server: string }>(askServer);
    const server = rows[0]?.server ?? '';
    this.#sessions.set(client, server);
    if (server === this.#progress.server) return;
    // Where the name leads elsewhere from now on, a later look follows it.
    this.#avoidedUntil = performance.now() + avoidMs;
    const reason = 'its name has led to another server; let DATABASE_READ_URL name one replica';
    this.#stop(reason);
    throw new Error(reason);
  }

  #enter(state: 'used' | 'behind'): void {
    const known = this.#state;
    this.#state = state;
    if (known === state || this.#closed) return;
    const { logger } = this.#options;
    const line = { replica: this.#description };
    if (state === 'used') logger.info(line, 'read replica used');
    else logger.warn({ ...line, lagSeconds: this.lagSeconds }, 'read replica behind');
  }

  #stop(reason: string): void {
    const known = this.#state;
    this.#state = 'down';
    this.#progress.leaveReplica();
    if (known === 'down' || this.#closed) return;
    this.#options.logger.warn({ replica: this.#description, reason }, 'read replica not used');
  }

  /** Within a span that names the server, where the trace is recorded. */
  async #named<T>(read: () => Promise<T>): Promise<T> {
    if (!getRequestContext()?.sampled) return read();
    const { inReplicaSpan } = await import('../../telemetry/tracing/query-span.ts');
    const target = parseDatabaseUrl(this.#options.settings.DATABASE_READ_URL);
    return inReplicaSpan(target.provider === 'postgresql' ? target.server : undefined, read);
  }

  get #description(): string {
    return parseDatabaseUrl(this.#options.settings.DATABASE_READ_URL).description;
  }
}

/** Whether another server may do better: not so for what was asked, for a caller who has gone, and for what takes too long. */
function isOfServer(error: unknown): boolean {
  if (!(error instanceof BaseException)) return true;
  return error instanceof DatabaseException && !ranIntoTimeLimit(error);
}

/** At once: a server that is gone without a word takes no farewell. */
function cut(client: ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
