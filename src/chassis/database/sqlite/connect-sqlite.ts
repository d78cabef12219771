import {
  DriverAdapterError,
  type IsolationLevel,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type SqlResultSet,
  type Transaction,
} from '@prisma/driver-adapter-utils';
import { readersBeside } from '../client/costly-places.ts';
import type { ReadLimits } from '../client/read-room.ts';
import { RequestQueue } from '../client/request-queue.ts';
import type { DataModel } from '../models/data-model.ts';
import { SqliteThread } from './sqlite-thread.ts';

/** The adapter of a file, and whether what comes now would have to wait for lawful work: a transaction or a statement. */
interface SqliteAdapter extends SqlDriverAdapterFactory {
  isBusy(): boolean;
}

const adapter = { provider: 'sqlite', adapterName: 'slipway-sqlite' } as const;

/**
 * The driver adapter for an SQLite file, whose statements run on a thread of their own (docs/decisions/0018); what
 * `SqliteFile` says of the file holds.
 *
 * @param statementTimeoutMs how long one statement may run, in milliseconds
 * @param dataModel the models of the file
 * @param requests lends turns on the thread, and counts the requests that wait for one
 * @param reads how much a result may bring. Default: as much as it does
 */
export function connectSqlite(
  path: string,
  statementTimeoutMs: number,
  dataModel: DataModel,
  requests = sqliteQueue(),
  reads?: ReadLimits,
): SqliteAdapter {
  let opened: ThreadedSqlite | undefined;
  return {
    ...adapter,
    async connect() {
      const file = { path, dataModel, statementTimeoutMs, reads };
      const thread = new SqliteThread(file);
      try {
        await thread.run({ kind: 'open' });
      } catch (error) {
        await thread.close().catch(() => undefined);
        throw error;
      }
      const reader = () => new SqliteThread({ ...file, onlyReads: true });
      opened = new ThreadedSqlite(thread, Array.from({ length: readersBeside }, reader), requests);
      return opened;
    },
    isBusy: () => opened?.isBusy ?? false,
  };
}

/**
 * Lends turns on the threads of an SQLite file. Three statements are sent at once to the one that writes, so that it always has the
 * next one and whoever comes waits for no more; but a client whose statements are slow has one at a time while others are there, and so
 * have all costly writes together.
 */
export function sqliteQueue(): RequestQueue {
  return new RequestQueue({ places: 3, placesOfSlow: 1, serial: true });
}

/**
 * One connection: while a transaction is open, everything else waits for its end. All reads but those of one record have others beside
 * it, for which nobody else waits: a reader sees the file as it was when its statement began, whatever is written meanwhile (WAL).
 */
class ThreadedSqlite implements SqlDriverAdapter {
  readonly provider = adapter.provider;
  readonly adapterName = adapter.adapterName;
  readonly #thread: SqliteThread;
  /** For reads beside; each starts with the first of them. */
  readonly #readers: readonly SqliteThread[];
  readonly #requests: RequestQueue;
  readonly #waiting: (() => void)[] = [];
  #inTransaction = false;
  #begun = false;

  constructor(thread: SqliteThread, readers: readonly SqliteThread[], requests: RequestQueue) {
    this.#thread = thread;
    this.#readers = readers;
    this.#requests = requests;
  }

  /** A transaction that waits for the file, which another process has, is not at work. */
  get isBusy(): boolean {
    const { statement } = this.#thread;
    return statement === 'in time' || (statement === 'none' && this.#begun);
  }

  queryRaw(statement: SqlQuery): Promise<SqlResultSet> {
    return this.#requests.run((isBeside) => this.#query(statement, isBeside), statement.sql);
  }

  executeRaw(statement: SqlQuery): Promise<number> {
    return this.#requests.run(() => this.#whenFree(() => this.#thread.run({ kind: 'execute', statement })));
  }

  executeScript(script: string): Promise<void> {
    return this.#whenFree(() => this.#thread.run({ kind: 'script', script }));
  }

  async startTransaction(level?: IsolationLevel): Promise<Transaction> {
    if (level && level !== 'SERIALIZABLE') throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level });
    const { opened: generation, leave } = await this.#requests.enter(() => this.#whenFree(() => this.#begin()));
    const free = () => {
      leave();
      this.#free();
    };
    return transactionOn(this.#thread, free, generation);
  }

  dispose(): Promise<void> {
    return this.#whenFree(async () => {
      // The last to close leaves one complete file.
      for (const reader of this.#readers) await reader.close();
      await this.#thread.close();
    });
  }

  #query(statement: SqlQuery, isBeside: boolean | undefined): Promise<SqlResultSet> {
    const request = { kind: 'query', statement } as const;
    if (isBeside) {
      const [reader = this.#thread] = this.#readers.toSorted((one, other) => one.pending - other.pending);
      return reader.run(request);
    }
    return this.#whenFree(() => this.#thread.run(request));
  }

  /** Gives the generation of the thread on which the transaction is open. */
  async #begin(): Promise<number> {
    this.#inTransaction = true;
    try {
      await this.#thread.run({ kind: 'begin' });
    } catch (error) {
      this.#free();
      throw error;
    }
    this.#begun = true;
    return this.#thread.generation;
  }

  #whenFree<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#inTransaction) return work();
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
    });
  }

  #free(): void {
    this.#inTransaction = false;
    this.#begun = false;
    while (!this.#inTransaction) {
      const next = this.#waiting.shift();
      if (!next) return;
      next();
    }
  }
}

function transactionOn(thread: SqliteThread, free: () => void, generation: number): Transaction {
  const execute = (statement: SqlQuery) => thread.run<number>({ kind: 'execute', statement }, generation);
  const savepoint = async (sql: string) => void (await execute({ sql, args: [], argTypes: [] }));
  return {
    ...adapter,
    options: { usePhantomQuery: true },
    queryRaw: (statement) => thread.run({ kind: 'query', statement }, generation),
    executeRaw: execute,
    commit: () => thread.run<void>({ kind: 'commit' }, generation).finally(free),
    // Of a thread that is gone it is done already.
    rollback: () =>
      thread
        .run<void>({ kind: 'rollback' }, generation)
        .catch(() => undefined)
        .finally(free),
    createSavepoint: (name) => savepoint(`SAVEPOINT ${name}`),
    rollbackToSavepoint: (name) => savepoint(`ROLLBACK TO ${name}`),
    releaseSavepoint: (name) => savepoint(`RELEASE SAVEPOINT ${name}`),
  };
}
