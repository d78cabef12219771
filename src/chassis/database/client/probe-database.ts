import { setTimeout as wait } from 'node:timers/promises';
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
  $executeRawUnsafe(sql: string): Promise<unknown>;
  $transaction<T>(work: (transaction: Probed) => Promise<T>): Promise<T>;
}

/** What the probe needs to know of an open database. */
interface ProbedDatabase {
  readonly client: OrmClient;
  readonly provider: 'postgresql' | 'sqlite';
  /** False for a database that is read only on purpose. */
  readonly writable: boolean;
}

/**
 * A standby says so too, and so does a server whose operator or disk guard made it read-only. What a database or a role is
 * told holds for new sessions only, so it is looked up: the one that asks may be old. Raised by the server, because a
 * connection that was refused as read-only is not used again.
 */
const refuseReadOnly = `DO $$ BEGIN
  IF current_setting('transaction_read_only')::boolean OR coalesce((
    SELECT split_part(setting, '=', 2)::boolean FROM pg_db_role_setting, unnest(setconfig) AS setting
    WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
      AND setting LIKE 'default_transaction_read_only=%'
    ORDER BY setrole = 0, setdatabase = 0 LIMIT 1), false)
  THEN RAISE EXCEPTION 'sessions are read-only' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
END $$`;

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
  else await probed.$executeRawUnsafe(refuseReadOnly);
}

/** The same number again: the smallest write there is, which needs the file, its log and the disk. */
async function rewriteVersion(transaction: Probed): Promise<void> {
  const [row] = await transaction.$queryRawUnsafe('PRAGMA user_version');
  await transaction.$queryRawUnsafe(`PRAGMA user_version = ${Number(row?.['user_version'])}`);
}
