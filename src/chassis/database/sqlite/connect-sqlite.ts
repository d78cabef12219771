import type {
  IsolationLevel,
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlQuery,
  SqlResultSet,
  Transaction,
} from '@prisma/driver-adapter-utils';
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import { RequestQueue } from '../client/request-queue.ts';
import { SqliteThread } from './sqlite-thread.ts';

const adapter = { provider: 'sqlite', adapterName: 'slipway-sqlite' } as const;

/**
 * The driver adapter for an SQLite file, whose statements run on a thread of their own (docs/decisions/0018); what
 * `openSqlite` says of the file holds.
 *
 * @param statementTimeoutMs how long one statement may run, in milliseconds
 * @param requests is told who waits for the thread
 */
export function connectSqlite(
  path: string,
  statementTimeoutMs: number,
  requests = new RequestQueue(),
): SqlDriverAdapterFactory {
  return {
    ...adapter,
    async connect() {
      const thread = new SqliteThread(path, statementTimeoutMs);
      try {
        await thread.run({ kind: 'open' });
      } catch (error) {
        await thread.close().catch(() => undefined);
        throw error;
      }
      return new ThreadedSqlite(thread, requests);
    },
  };
}

/** One connection: while a transaction is open, everything else waits for its end. */
class ThreadedSqlite implements SqlDriverAdapter {
  readonly provider = adapter.provider;
  readonly adapterName = adapter.adapterName;
  readonly #thread: SqliteThread;
  readonly #requests: RequestQueue;
  readonly #waiting: (() => void)[] = [];
  #inTransaction = false;

  constructor(thread: SqliteThread, requests: RequestQueue) {
    this.#thread = thread;
    this.#requests = requests;
  }

  queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return this.#requests.wait(this.#whenFree(() => this.#thread.run({ kind: 'query', query })));
  }

  executeRaw(query: SqlQuery): Promise<number> {
    return this.#requests.wait(this.#whenFree(() => this.#thread.run({ kind: 'execute', query })));
  }

  executeScript(script: string): Promise<void> {
    return this.#whenFree(() => this.#thread.run({ kind: 'script', script }));
  }

  startTransaction(level?: IsolationLevel): Promise<Transaction> {
    if (level && level !== 'SERIALIZABLE') throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level });
    return this.#requests.wait(this.#whenFree(() => this.#begin()));
  }

  dispose(): Promise<void> {
    return this.#whenFree(() => this.#thread.close());
  }

  async #begin(): Promise<Transaction> {
    this.#inTransaction = true;
    try {
      await this.#thread.run({ kind: 'begin' });
    } catch (error) {
      this.#free();
      throw error;
    }
    return transactionOn(this.#thread, () => this.#free());
  }

  #whenFree<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#inTransaction) return work();
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
    });
  }

  #free(): void {
    this.#inTransaction = false;
    while (!this.#inTransaction) {
      const next = this.#waiting.shift();
      if (!next) return;
      next();
    }
  }
}

function transactionOn(thread: SqliteThread, free: () => void): Transaction {
  const { generation } = thread;
  const execute = (query: SqlQuery) => thread.run<number>({ kind: 'execute', query }, generation);
  const savepoint = async (sql: string) => void (await execute({ sql, args: [], argTypes: [] }));
  return {
    ...adapter,
    options: { usePhantomQuery: true },
    queryRaw: (query) => thread.run({ kind: 'query', query }, generation),
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
