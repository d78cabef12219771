import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { rewriteLike, type Statement } from './sqlite-like.ts';
import { type SqliteClient, untilFree, untilWritable } from './sqlite-waiting.ts';

type Config = ConstructorParameters<typeof PrismaLibSql>[0];
type Transaction = Awaited<ReturnType<SqliteClient['transaction']>>;
type ResultSet = Awaited<ReturnType<SqliteClient['execute']>>;
type Value = ResultSet['rows'][number][number];
type Run = (statement: Statement) => ReturnType<SqliteClient['execute']>;

/**
 * What every connection needs. WAL lets readers read while one writes; NORMAL cannot corrupt a file in WAL mode and saves
 * a wait for the disk at each write. The cache, in KiB, holds the indexes of some 100,000 records.
 */
const settings =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536;';

const reading = /^\s*(SELECT|WITH|PRAGMA|EXPLAIN)\b/i;

/** Is told when a statement begins and when it ended, whatever became of it. */
export type StatementWatch = (running: boolean) => void;

/**
 * Opens an SQLite file, whose directory is made when missing, on the calling thread, which waits for each statement.
 * Writers wait up to 5 s for one another, across processes too; text filters keep to what `toProviderFilter` asked for.
 * Once it is closed, the file by itself holds everything and may be copied.
 */
export function openSqlite(path: string, watch: StatementWatch): Promise<SqlDriverAdapter> {
  mkdirSync(dirname(path), { recursive: true });
  return new WaitingLibSql(path, watch).connect();
}

/** The path of a file as the driver takes it. */
export function sqliteUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`;
}

class WaitingLibSql extends PrismaLibSql {
  readonly #watch: StatementWatch;

  constructor(path: string, watch: StatementWatch) {
    super({ url: sqliteUrl(path) });
    this.#watch = watch;
  }

  /** Even to open a file can fail while another process, the last that had it open, cleans up behind itself. */
  override async connect(): ReturnType<PrismaLibSql['connect']> {
    const connection = await untilFree(async () => super.connect());
    await untilFree(() => connection.executeScript(settings));
    const dispose = connection.dispose.bind(connection);
    connection.dispose = async () => {
      // Best effort: the log is merged by whoever opens the file next when another process is reading it now.
      await connection.executeScript('PRAGMA wal_checkpoint(TRUNCATE);').catch(() => undefined);
      await dispose();
    };
    return connection;
  }

  override createClient(config: Config): SqliteClient {
    // As numbers of JavaScript, integers beyond 2^53 would be refused.
    const client = super.createClient({ ...config, intMode: 'bigint' });
    const execute = client.execute.bind(client) as Run;
    const run: Run = async (statement) => {
      const prepared = storable(rewriteLike(statement));
      this.#watch(true);
      try {
        return withNumbers(await execute(prepared));
      } finally {
        this.#watch(false);
      }
    };
    client.execute = (async (statement: Statement) => {
      if (!reading.test(statement.sql)) await untilWritable(client);
      return run(statement);
    }) as SqliteClient['execute'];
    client.transaction = async () => {
      // The right to write is taken at the start: a reader that turns into a writer half-way cannot wait, only fail.
      await untilWritable(client);
      await execute({ sql: 'BEGIN IMMEDIATE', args: [] });
      return transactionOn(run);
    };
    return client;
  }
}

/** What a program computes in SQL of its own, such as a count, is a number where one holds it; columns keep their type. */
function withNumbers(result: ResultSet): ResultSet {
  if (!result.columnTypes.includes('')) return result;
  const plain = (value: Value, column: number) =>
    typeof value === 'bigint' && result.columnTypes[column] === '' && isSafe(value) ? Number(value) : value;
  const rows = result.rows.map((row) => Array.from(row, plain) as unknown as ResultSet['rows'][number]);
  return Object.assign(result, { rows });
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

/** The driver would cut a text off at a NUL character: store another value than was given, or find another record. */
function storable(statement: Statement): Statement {
  for (const value of statement.args) {
    if (typeof value === 'string' && value.includes('\0')) throw new NulCharacterError();
  }
  return statement;
}

/** Raised for a text that SQLite cannot hold; PostgreSQL refuses it by itself. */
class NulCharacterError extends Error {
  override readonly name = 'NulCharacterError';
  override readonly message = 'A text with a NUL character cannot be stored or looked for. Remove the character.';
}

/**
 * A transaction on the client's own connection: the adapter lets nothing else run until it ends. The client would open
 * another connection for every transaction instead, without the settings made above.
 */
function transactionOn(run: Run): Transaction {
  const end = (sql: string) => async () => {
    await run({ sql, args: [] });
  };
  return { execute: run, commit: end('COMMIT'), rollback: end('ROLLBACK') } as unknown as Transaction;
}
