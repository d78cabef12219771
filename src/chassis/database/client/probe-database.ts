import { DatabaseUnavailableException } from '../../errors/exceptions.ts';
import type { OrmClient } from './orm-types.ts';

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
