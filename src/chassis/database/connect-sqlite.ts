import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import { rewriteLike, type Statement } from './sqlite-like.ts';

type Config = ConstructorParameters<typeof PrismaLibSql>[0];
type Client = ReturnType<PrismaLibSql['createClient']>;
type Transaction = Awaited<ReturnType<Client['transaction']>>;

const busyTimeoutMs = 5000;

/**
 * What every connection needs. WAL lets readers read while one writes; NORMAL cannot corrupt a file in WAL mode and saves
 * a wait for the disk at each write. The cache, in KiB, holds the indexes of some 100,000 records.
 */
const pragmas = ['journal_mode = WAL', 'synchronous = NORMAL', 'foreign_keys = ON', 'cache_size = -65536'];

/**
 * The driver adapter for an SQLite file, whose directory is made when missing. Writers wait up to 5 s for one another,
 * across processes too; text filters keep to what `toProviderFilter` asked for.
 */
export function connectSqlite(path: string): PrismaLibSql {
  mkdirSync(dirname(path), { recursive: true });
  return new WaitingLibSql({ url: sqliteUrl(path) });
}

/** The path of a file as the driver takes it. */
export function sqliteUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`;
}

class WaitingLibSql extends PrismaLibSql {
  /** Even to open a file can fail while another process, the last that had it open, cleans up behind itself. */
  override connect(): ReturnType<PrismaLibSql['connect']> {
    return untilFree(async () => super.connect());
  }

  override createClient(config: Config): Client {
    const client = super.createClient(config);
    const run = client.execute.bind(client) as (statement: Statement | string) => ReturnType<Client['execute']>;
    let prepared: Promise<void> | undefined;
    const execute = async (statement: Statement) => {
      prepared ??= prepare(run);
      await prepared;
      const ready = storable(rewriteLike(statement));
      return untilFree(() => run(ready));
    };
    client.execute = execute as Client['execute'];
    client.transaction = async () => {
      // The write lock is taken at the start: a reader that turns into a writer half-way cannot wait, only fail.
      await execute({ sql: 'BEGIN IMMEDIATE', args: [] });
      return transactionOn(async (statement) => run(storable(rewriteLike(statement))));
    };
    return client;
  }
}

async function prepare(run: (statement: string) => Promise<unknown>): Promise<void> {
  for (const pragma of pragmas) await untilFree(() => run(`PRAGMA ${pragma}`));
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
function transactionOn(run: (statement: Statement) => Promise<unknown>): Transaction {
  const end = (sql: string) => async () => {
    await run({ sql, args: [] });
  };
  return { execute: run, commit: end('COMMIT'), rollback: end('ROLLBACK') } as unknown as Transaction;
}

/**
 * Tries again while another process holds the file, for 5 s unless told otherwise; then raises SQLITE_BUSY. Waiting
 * inside SQLite would stop this process's event loop.
 */
export async function untilFree<T>(work: () => Promise<T>, waitMs = busyTimeoutMs): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || Date.now() + pause > deadline) throw error;
    }
    await sleep(pause);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
}
