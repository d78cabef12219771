import { setTimeout as wait } from 'node:timers/promises';
import type { DiskState } from './current-work.ts';
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
  /** Whether an operation found its disk full; the probe resets it. */
  readonly disk: DiskState;
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
 * Needs 64 KB of new pages, as growing tables do. `temp_tablespaces` may name another disk. For a role that may not create
 * temporary tables this tests nothing.
 */
const takeRoomOnServer = `DO $$ BEGIN
  PERFORM set_config('temp_tablespaces', '', true);
  CREATE TEMPORARY TABLE slipway_probe ON COMMIT DROP AS SELECT repeat('-', 1000) FROM generate_series(1, 64);
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$`;

/** The same for SQLite; the last two statements undo it. */
const roomInFile = [
  'SAVEPOINT slipway_probe',
  'CREATE TABLE slipway_probe AS SELECT zeroblob(65536)',
  'ROLLBACK TO slipway_probe',
  'RELEASE slipway_probe',
];

/**
 * Asks a database for a sign of life, and whether it can be written: a replica that was not promoted and a file system that
 * went read-only are no database to serve from. It does not search for a full disk, which would cost a write of new pages
 * each second. But once an operation has found the disk full, it writes such pages itself, and fails until they find room:
 * a service that is not ready gets no requests whose writes could show that there is room again.
 *
 * @throws DatabaseUnavailableException when it does not answer or cannot be written
 */
export async function probeDatabase({ client, provider, writable, disk }: ProbedDatabase): Promise<void> {
  const probed = client as unknown as Probed;
  if (!writable) return void (await probed.$queryRawUnsafe('SELECT 1'));
  const takesRoom = disk.wasFull;
  if (provider === 'sqlite') {
    await probed.$transaction(rewriteVersion);
    if (takesRoom) await probed.$transaction(takeRoomInFile);
  } else {
    await probed.$executeRawUnsafe(refuseReadOnly);
    if (takesRoom) await probed.$executeRawUnsafe(takeRoomOnServer);
  }
  // Otherwise an operation may have found it full meanwhile.
  if (takesRoom) disk.wasFull = false;
}

/** The same number again: the smallest write there is, which needs the file, its log and the disk. */
async function rewriteVersion(transaction: Probed): Promise<void> {
  const [row] = await transaction.$queryRawUnsafe('PRAGMA user_version');
  await transaction.$queryRawUnsafe(`PRAGMA user_version = ${Number(row?.['user_version'])}`);
}

/** Without a cache, because pages that are rolled back reach the disk only when the cache has no place for them. */
async function takeRoomInFile(transaction: Probed): Promise<void> {
  const [row] = await transaction.$queryRawUnsafe('PRAGMA cache_size');
  await transaction.$queryRawUnsafe('PRAGMA cache_size = 1');
  try {
    for (const statement of roomInFile) await transaction.$executeRawUnsafe(statement);
  } finally {
    await transaction.$queryRawUnsafe(`PRAGMA cache_size = ${Number(row?.['cache_size'])}`);
  }
}
