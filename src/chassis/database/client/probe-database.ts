import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseUnavailableException } from '../../errors/exceptions.ts';
import type { OrmClient } from './orm-types.ts';

/** Below the second that a health check may take. */
const patienceMs = 500;

/**
 * A health check that asks the database. While a unit of work or a statement of this service keeps the only connection
 * that SQLite has, it holds without an answer: how long they may take is limited elsewhere.
 *
 * @param ask is called again once its last call has ended
 * @param isBusy whether such work is under way
 */
export function patientCheck(ask: () => Promise<unknown>, isBusy: () => boolean): () => Promise<void> {
  let pending: Promise<unknown> | undefined;
  return async () => {
    pending ??= ask().finally(() => {
      pending = undefined;
    });
    const answered = pending.then(() => true);
    const inTime = await Promise.race([answered, wait(patienceMs, false, { ref: false })]);
    if (!inTime && !isBusy()) await answered;
    // The next call hears of its failure, unless it is over by then.
    else answered.catch(() => undefined);
  };
}

/** What the probe asks of a client, or of its transaction. */
interface Probed {
  $queryRawUnsafe(sql: string): Promise<Record<string, unknown>[]>;
  $transaction<T>(work: (transaction: Probed) => Promise<T>): Promise<T>;
}

/** What the probe needs to know of an open database. */
export interface ProbedDatabase {
  readonly client: OrmClient;
  readonly provider: 'postgresql' | 'sqlite';
  /** False for a database that is read only on purpose. */
  readonly writable: boolean;
}

/**
 * Asks a database for a sign of life, and whether it can be written: a replica that was not promoted, a full disk and a
 * file system that went read-only are no database to serve from.
 *
 * @throws DatabaseUnavailableException when it does not answer or cannot be written
 */
export async function probeDatabase({ client, provider, writable }: ProbedDatabase): Promise<void> {
  const probed = client as unknown as Probed;
  if (!writable) await probed.$queryRawUnsafe('SELECT 1');
  else if (provider === 'sqlite') await probed.$transaction(rewriteVersion);
  else await askReadOnly(probed);
}

/** The same number again: the smallest write there is, which needs the file, its log and the disk. */
async function rewriteVersion(transaction: Probed): Promise<void> {
  const [row] = await transaction.$queryRawUnsafe('PRAGMA user_version');
  await transaction.$queryRawUnsafe(`PRAGMA user_version = ${Number(row?.['user_version'])}`);
}

/** A standby says so too, and so does a server whose operator or disk guard made it read-only. */
async function askReadOnly(client: Probed): Promise<void> {
  const [row] = await client.$queryRawUnsafe(`SELECT current_setting('transaction_read_only') AS "readOnly"`);
  if (row?.['readOnly'] !== 'off') throw new DatabaseUnavailableException('Database Unavailable: it is read-only');
}
