import { setTimeout as sleep } from 'node:timers/promises';
import type { PrismaLibSql } from '@prisma/adapter-libsql';

/** libsql's client, as the adapter makes it. */
export type SqliteClient = ReturnType<PrismaLibSql['createClient']>;

const busyCode = 5;

/** How long a writer waits for other writers unless told otherwise. */
export const busyTimeoutMs = 5000;

/**
 * Tries to get the right to write, and gives it back. A script is used because a statement that found the file busy stays
 * open in the driver, and then no transaction of its connection can end. Should another process come between this and
 * the statement that follows, that one waits inside SQLite.
 */
const tryWriteLock = `PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK; PRAGMA busy_timeout = ${busyTimeoutMs};`;

/**
 * Waits until the file can be written, while other processes write it. Waiting inside SQLite would stop this process's
 * event loop.
 *
 * @throws SQLITE_BUSY when it waited `waitMs`
 */
export async function untilWritable(client: SqliteClient, waitMs = busyTimeoutMs): Promise<void> {
  try {
    await untilFree(() => client.executeMultiple(tryWriteLock), waitMs);
  } catch (error) {
    await client.executeMultiple(`PRAGMA busy_timeout = ${busyTimeoutMs};`);
    throw error;
  }
}

/** Tries again while `work` finds the file busy; raises SQLITE_BUSY after `waitMs`. `work` must leave no statement open. */
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

/** Whether the driver says that another connection has the file. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'rawCode' in error && (Number(error.rawCode) & 0xff) === busyCode;
}
