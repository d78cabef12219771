import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SqlQuery, SqlResultSet } from '@prisma/driver-adapter-utils';
import Database from 'libsql';
import { sweepGarbage } from '../../config/private-memory.ts';
import type { DataModel } from '../models/data-model.ts';
import { rewriteLike } from './sqlite-like.ts';
import { SqliteQueries } from './sqlite-query.ts';
import { type Prepared, prepareStatement, StatementCache } from './sqlite-statements.ts';
import { resultSet, toDriverValues } from './sqlite-values.ts';
import { busyTimeoutMs, isBusy } from './sqlite-waiting.ts';

/** Holds the indexes of some 100,000 records. */
const mostCacheBytes = 67_108_864;
/** The part of the cache that each of the two has that only read: they read whole tables, and who writes reads few records. */
const cachePartOfReads = 0.375;
/** The log of a file that is longer than this is merged into it, in bytes. SQLite does it from 4 MB on by itself. */
const longLogBytes = 16_777_216;
/** Holds 200 compiled statements of 2,500 characters. */
const mostStatementBytes = 8_388_608;

/**
 * What every connection needs. WAL lets readers read while one writes; NORMAL cannot corrupt a file in WAL mode and saves
 * a wait for the disk at each write.
 */
const settings = `PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;`;

/** Waits for nobody. */
const mergeLog = 'PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE);';

const reading = /^\s*(SELECT|WITH|PRAGMA|EXPLAIN)\b/i;
/** In a statement that begins with WITH: it may write after all. */
const changing = /\b(INSERT|UPDATE|DELETE|REPLACE)\b/i;
/** What SQLite refuses within a transaction, or what says itself where one begins and ends. */
const withoutTransaction = /^\s*(VACUUM|ATTACH|DETACH|BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i;

/** How much a file may take, and what is done with it. */
interface SqliteFileOptions {
  /** Characters of one result, at most. Default: as many as it has. */
  readonly mostChars?: number;
  /** Whether it is read beside another connection of this process, which writes. Default false. */
  readonly onlyReads?: boolean;
}

/** Who watches the statements of a file. */
interface StatementWatch {
  /** Is told when a statement begins and when it ended, whatever became of it. */
  running(runs: boolean): void;
  /** Asked before something is stored for good; what it raises undoes it. */
  beforeCommit(): void;
}

/**
 * An SQLite file, whose directory is made when missing. All its methods stop the thread that calls them until they are
 * done. Writers wait up to 5 s for one another, across processes too. Once it is closed, the file by itself holds
 * everything and may be copied.
 */
export class SqliteFile {
  readonly #database: Database.Database;
  readonly #watch: StatementWatch;
  readonly #queries: SqliteQueries;
  readonly #statements: StatementCache;
  /** Where the log of the file is that this connection merges; undefined where it does so as it writes. */
  readonly #log: string | undefined;
  #inTransaction = false;

  /** @param dataModel the models of the file, whose enums sort in declared order */
  constructor(path: string, dataModel: DataModel, watch: StatementWatch, options: SqliteFileOptions = {}) {
    const { mostChars = Number.POSITIVE_INFINITY, onlyReads = false } = options;
    mkdirSync(dirname(path), { recursive: true });
    // Even to open a file can fail while another process, the last that had it open, cleans up behind itself.
    this.#database = retried(() => new Database(path));
    this.#watch = watch;
    this.#queries = new SqliteQueries(dataModel);
    const prepare = (sql: string) => prepareStatement(this.#database, sql, mostChars);
    this.#statements = new StatementCache(prepare, Math.min(mostStatementBytes, mostChars / 2));
    retried(() => this.#database.exec(settings));
    if (onlyReads) this.#database.exec('PRAGMA query_only = ON');
    this.#log = onlyReads ? `${path}-wal` : undefined;
    this.#boundMemory(mostChars, onlyReads);
  }

  /** Runs a statement and gives the rows that it found or returned. */
  query(statement: SqlQuery): SqlResultSet {
    const found = this.#run(statement, (prepared, args) => resultSet(prepared, prepared.rows(args)));
    this.#mergeLongLog();
    return found;
  }

  /** Runs a statement and tells how many records it changed. */
  execute(statement: SqlQuery): number {
    return this.#run(statement, (prepared, args) => prepared.changes(args));
  }

  /** Runs several statements without arguments, of which some may define tables. */
  script(script: string): void {
    this.#statements.clear();
    try {
      this.#watched(() => this.#database.exec(script));
    } finally {
      // What a script has begun and not ended would go on around everything that follows.
      if (!this.#inTransaction) this.#undo();
    }
  }

  /** Takes the right to write at once: a reader that turns into a writer half-way cannot wait, only fail. */
  begin(): void {
    this.#begin();
    this.#inTransaction = true;
  }

  /** Stores what was done since `begin`; whatever fails leaves nothing of it. */
  commit(): void {
    try {
      this.#commit();
    } finally {
      this.rollback();
    }
  }

  /** Undoes what was done since `begin`, unless it is done already. */
  rollback(): void {
    this.#inTransaction = false;
    this.#undo();
  }

  /** Closes the file. */
  close(): void {
    this.rollback();
    this.#statements.clear();
    // The driver ends a statement when it is collected, and one that was stopped early keeps the log until then.
    sweepGarbage();
    try {
      this.#database.exec(mergeLog);
    } catch (error) {
      // Another process reads the file: the next one to open it merges the log.
      if (!isBusy(error)) throw error;
    } finally {
      this.#database.close();
    }
  }

  /** While one read follows the other, the log has no end that who writes would find merged: it grows with each write. */
  #mergeLongLog(): void {
    if (this.#log === undefined || (statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0) < longLogBytes) return;
    try {
      this.#database.exec(mergeLog);
    } catch {
      // It is tried again behind the next read. What is wrong with the disk is for who writes to say.
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  /** SQLite sorts in memory. What takes more fails, and so may what runs beside it: the limit is of the process. */
  #boundMemory(mostChars: number, onlyReads: boolean): void {
    const cacheBytes = Math.min(mostCacheBytes, mostChars);
    const ownBytes = cacheBytes * (onlyReads ? cachePartOfReads : 1 - 2 * cachePartOfReads);
    this.#database.exec(`PRAGMA cache_size = -${Math.floor(ownBytes / 1024)}`);
    if (Number.isFinite(mostChars)) this.#database.exec(`PRAGMA hard_heap_limit = ${cacheBytes + 4 * mostChars}`);
  }

  #run<T>(statement: SqlQuery, work: (prepared: Prepared, args: unknown[]) => T): T {
    const { sql, args } = rewriteLike(this.#queries.prepare(statement));
    const values = toDriverValues(args);
    const run = () => this.#watched(() => this.#statements.use(sql, (prepared) => work(prepared, values)));
    if (this.#inTransaction || isReading(sql) || withoutTransaction.test(sql)) return run();
    this.#begin();
    try {
      const result = run();
      this.#commit();
      return result;
    } finally {
      this.#undo();
    }
  }

  /** One that could not be undone, because there was no memory for that either, ends here: else no write would begin again. */
  #begin(): void {
    this.#undo();
    this.#database.exec('BEGIN IMMEDIATE');
  }

  #commit(): void {
    this.#watched(() => {
      this.#watch.beforeCommit();
      this.#database.exec('COMMIT');
    });
  }

  #undo(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
  }

  #watched<T>(work: () => T): T {
    this.#watch.running(true);
    try {
      return work();
    } finally {
      this.#watch.running(false);
    }
  }
}

function isReading(sql: string): boolean {
  return reading.test(sql) && !(/^\s*WITH\b/i.test(sql) && changing.test(sql));
}

/** Tries again while the file is busy, for `busyTimeoutMs`, where SQLite does not wait by itself. */
function retried<T>(work: () => T): T {
  const deadline = Date.now() + busyTimeoutMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() + pauseMs > deadline) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}
