import type { Pool } from 'pg';
import type { PoolCounts } from '../../telemetry/metrics/replica-metrics.ts';
import type { ReadReplica, ReplicaOptions } from '../replica/read-replica.ts';
import type { DatabaseCounts } from './current-work.ts';
import { databaseKindOf, nameDatabase } from './database-kind.ts';
import type { DatabaseProvider } from './database-url.ts';
import { type DatabaseSettings, type OpenOrm, openDatabase } from './orm.ts';
import type { OrmClient } from './orm-types.ts';
import { probeDatabase } from './probe-database.ts';
import type { ReadLimits } from './read-room.ts';
import type { RequestQueue } from './request-queue.ts';

/** The database of a service, from `connectOrm` to the service's end. */
export class Database {
  readonly #counts: DatabaseCounts;
  readonly #logger: ReplicaOptions['logger'];
  readonly #reads: ReadLimits | undefined;
  #open: OpenOrm | undefined;
  #replica: ReadReplica | undefined;
  #wasClosed = false;

  /**
   * @param counts is told of every operation
   * @param logger is told when a replica is used, and when not
   * @param reads how much results may bring; by default as much as they do
   */
  constructor(counts: DatabaseCounts, logger: ReplicaOptions['logger'], reads?: ReadLimits) {
    this.#counts = counts;
    this.#logger = logger;
    this.#reads = reads;
  }

  /** Whether it is open. A service whose DATABASE_URL is `none` never has it open. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** The ORM client. Its errors are exceptions of the chassis (spec.md: Errors, body rule 7). @throws Error while closed */
  get client(): OrmClient {
    return this.#opened.client;
  }

  /** Which database is open. @throws Error while closed */
  get provider(): DatabaseProvider {
    return this.#opened.provider;
  }

  /** Whether the rows of a model have a scope, or another rule of their repository; true while closed, when it is not known. */
  get mayHaveScopes(): boolean {
    return this.#open === undefined || !databaseKindOf(this.#open.client).rules.isEmpty;
  }

  /** The pool itself, for those who do not ask the ORM; undefined on SQLite and while closed. */
  get connections(): Pool | undefined {
    return this.#open?.pool;
  }

  /** The connections; undefined on SQLite and while closed. */
  get pool(): PoolCounts | undefined {
    return this.#open?.pool;
  }

  /** The replica that lists are read from; undefined without DATABASE_READ_URL and while closed. */
  get replica(): ReadReplica | undefined {
    return this.#replica;
  }

  /** The requests that wait for a connection of the pool, or for SQLite's thread; undefined while closed. */
  get requests(): RequestQueue | undefined {
    return this.#open?.requests;
  }

  /** What the requests of an address had of its connections lately, in milliseconds, the latest most; 0 while closed. */
  hadLately(address: string, now: number): number {
    return this.#open?.requests.hadLately(address, now) ?? 0;
  }

  /**
   * Opens the database that `DATABASE_URL` names.
   *
   * @throws Error when it is open, and what `openDatabase` raises
   */
  async open(settings: DatabaseSettings): Promise<void> {
    if (this.#open) throw new Error('Expected a closed database, found it open; connectOrm() is called once.');
    this.#open = await openDatabase(settings, { counts: this.#counts, reads: this.#reads });
    const { DATABASE_READ_URL } = settings;
    if (DATABASE_READ_URL !== undefined) await this.#openReplica({ ...settings, DATABASE_READ_URL });
  }

  /** Asks for a sign of life. @throws DatabaseUnavailableException when there is none, or the database cannot be written */
  async probe(): Promise<void> {
    await probeDatabase(this.#opened);
  }

  /** Whether what comes now would wait for lawful work; see `OpenOrm`. */
  get isBusy(): boolean {
    return this.#open?.isBusy() ?? false;
  }

  /** Closes it; does nothing when it is not open. */
  async close(): Promise<void> {
    const closing = this.#open;
    const replica = this.#replica;
    this.#open = undefined;
    this.#replica = undefined;
    this.#wasClosed ||= closing !== undefined;
    try {
      await replica?.close();
    } finally {
      await closing?.close();
    }
  }

  async #openReplica(settings: ReplicaOptions['settings']): Promise<void> {
    const { ReadReplica } = await import('../replica/read-replica.ts');
    const kind = databaseKindOf(this.client);
    const options = { settings, rules: kind.rules, counts: this.#counts, logger: this.#logger, reads: this.#reads };
    this.#replica = await ReadReplica.open(options);
    nameDatabase(this.client, { ...kind, replica: this.#replica });
  }

  get #opened(): OpenOrm {
    if (this.#open) return this.#open;
    throw new Error(this.#wasClosed ? closed : notOpened);
  }
}

const notOpened =
  'Expected an open database, found none. Await the loader connectOrm() first; with DATABASE_URL=none, disable the modules that need a database.';
const closed =
  'Expected an open database, found one that is closed, because its service is closed or its start failed; ' +
  'end what uses it before that, such as in stop() of a <module>.lifecycle.ts.';
