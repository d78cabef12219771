import { DriverAdapterError, type SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { Pool } from 'pg';
import { DatabaseUnavailableException } from '../../errors/exceptions.ts';
import type { DataModel } from '../models/data-model.ts';
import { ModelRules } from '../scope/model-rules.ts';
import { JsonReader } from '../statements/json-reader.ts';
import type { Sessions } from './connect-postgresql.ts';
import { convertingErrors } from './convert-orm-errors.ts';
import { type DatabaseCounts, type DiskState, errorConverter } from './current-work.ts';
import { nameDatabase } from './database-kind.ts';
import { type DatabaseProvider, type DatabaseTarget, parseDatabaseUrl } from './database-url.ts';
import { loadGeneratedClient } from './generated-client.ts';
import { longReads } from './long-reads.ts';
import type { OrmClient } from './orm-types.ts';
import type { ReadLimits } from './read-room.ts';
import type { RequestQueue } from './request-queue.ts';
import { sharedConnection } from './shared-connection.ts';
import { unreachableReason } from './unreachable-reason.ts';

/** The part of the environment that the database reads. Times are milliseconds. */
export interface DatabaseSettings {
  /** `postgres://...`, `postgresql://...` or `file:...` (spec.md: Loaders, connectOrm). */
  readonly DATABASE_URL: string;
  /** Most connections at once; PostgreSQL only. */
  readonly DATABASE_POOL_SIZE: number;
  /** How long a request waits for a connection; PostgreSQL only. */
  readonly DATABASE_ACQUIRE_TIMEOUT_MS: number;
  /** How long one statement may run. */
  readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
  /** After how long an unused connection closes; PostgreSQL only. */
  readonly DATABASE_IDLE_TIMEOUT_MS: number;
  /** Whether lists and single records are read as JSON that the database makes. */
  readonly DATABASE_JSON_READS?: boolean;
  /** A streaming replica that lists are read from; PostgreSQL only. */
  readonly DATABASE_READ_URL?: string | undefined;
  /** How long a list waits for the replica to catch up. */
  readonly DATABASE_READ_WAIT_MS?: number;
}

/** An open database: its client and what belongs to it. */
export interface OpenOrm {
  readonly client: OrmClient;
  readonly provider: DatabaseProvider;
  /** False for a database that is read only on purpose (`target_session_attrs` in DATABASE_URL). */
  readonly writable: boolean;
  /** Whether an operation found its disk full. */
  readonly disk: DiskState;
  /** The pool of connections, for its counts; undefined on SQLite. */
  readonly pool: Pool | undefined;
  /** The requests that wait for a connection of the pool, or for SQLite's thread. */
  readonly requests: RequestQueue;
  /** Whether what comes now would wait for lawful work, because SQLite does one thing after the other; not on PostgreSQL. */
  isBusy(): boolean;
  close(): Promise<void>;
}

/** What a caller may add to an open database. */
export interface OpenDatabaseOptions {
  /** Told of every operation. */
  readonly counts?: DatabaseCounts | undefined;
  /** Absolute path of the generated clients. Default: the service's own. */
  readonly clients?: string | undefined;
  /** The rules of the models. Default: new ones, which repositories add to. */
  readonly rules?: ModelRules | undefined;
  /** What is asked of sessions; PostgreSQL only. */
  readonly sessions?: Sessions | undefined;
  /** How much results may bring. Default: as much as they do. */
  readonly reads?: ReadLimits | undefined;
}

/**
 * Opens the database that `DATABASE_URL` names.
 *
 * @throws Error for a URL of another form or a client that was not generated, DatabaseUnavailableException when the
 * database does not answer
 */
export async function openDatabase(settings: DatabaseSettings, options: OpenDatabaseOptions = {}): Promise<OpenOrm> {
  const { counts, clients, sessions, reads } = options;
  const target = parseDatabaseUrl(settings.DATABASE_URL);
  const { Client, dataModel } = await loadGeneratedClient(target.provider, clients);
  const {
    adapter,
    pool,
    requests,
    isBusy = () => false,
  } = await connect(target, settings, { dataModel, sessions, reads });
  const { connection, factory } = await answering(adapter, target);
  // Its messages would hold the values that it was called with, and go to logs and monitors.
  const bare = new Client({ adapter: factory, errorFormat: 'minimal' });
  const { provider, writable } = target;
  const { rules = new ModelRules(dataModel) } = options;
  const scoped = { provider, dataModel, rules };
  const disk: DiskState = { wasFull: false };
  const conversion = { counts, dataModel, scoped, disk };
  const client = convertingErrors(bare, conversion);
  const schema = target.provider === 'postgresql' ? (target.schema ?? 'public') : 'main';
  const measured = errorConverter(conversion);
  const server = target.provider === 'postgresql' ? target.server : undefined;
  // A pooler does not say when the connections behind it end.
  const keepsTotals = target.provider === 'postgresql' && !target.pgbouncer;
  const reader = new JsonReader({
    ...{ provider, dataModel, schema, server, keepsTotals, connection, measured, counts },
    longReads: longReads(
      settings.DATABASE_ACQUIRE_TIMEOUT_MS || undefined,
      pool || !reads ? undefined : { reads, requests },
    ),
  });
  pool?.on('remove', () => reader.forgetTotals());
  nameDatabase(client, { ...scoped, counts, reader, readsJson: settings.DATABASE_JSON_READS ?? false });
  const close = async () => {
    await bare.$disconnect();
    // The client has disposed of it where it ever connected.
    await connection.dispose();
  };
  return { client, provider, writable, disk, pool, requests, isBusy, close };
}

/** @throws DatabaseUnavailableException when the database does not answer */
async function answering(adapter: SqlDriverAdapterFactory, target: DatabaseTarget) {
  let opened: Awaited<ReturnType<typeof sharedConnection>> | undefined;
  try {
    opened = await sharedConnection(adapter);
    await opened.connection.queryRaw({ sql: 'SELECT 1', args: [], argTypes: [] });
    return opened;
  } catch (error) {
    await opened?.connection.dispose();
    throw await noAnswer(target, describedByAdapter(error));
  }
}

/** The adapter leaves what it does not know of sockets as it is, such as a socket file that is not there. */
function describedByAdapter(error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new DriverAdapterError({
    kind: 'DatabaseNotReachable',
    ...(code !== undefined && { originalCode: code }),
    originalMessage: message,
  });
}

interface Connected {
  readonly adapter: SqlDriverAdapterFactory;
  readonly pool?: Pool;
  readonly requests: RequestQueue;
  readonly isBusy?: () => boolean;
}

/** Loads the driver of one database and not that of the other. */
async function connect(
  target: DatabaseTarget,
  settings: DatabaseSettings,
  { dataModel, ...options }: Pick<OpenDatabaseOptions, 'sessions' | 'reads'> & { dataModel: DataModel },
): Promise<Connected> {
  if (target.provider === 'sqlite') {
    const { connectSqlite, sqliteQueue } = await import('../sqlite/connect-sqlite.ts');
    const requests = sqliteQueue();
    const adapter = connectSqlite(
      target.path,
      settings.DATABASE_STATEMENT_TIMEOUT_MS,
      dataModel,
      requests,
      options.reads,
    );
    return { adapter, requests, isBusy: adapter.isBusy };
  }
  const { connectPostgresql } = await import('./connect-postgresql.ts');
  const limits = {
    max: settings.DATABASE_POOL_SIZE,
    connectionTimeoutMillis: settings.DATABASE_ACQUIRE_TIMEOUT_MS,
    idleTimeoutMillis: settings.DATABASE_IDLE_TIMEOUT_MS,
    statement_timeout: settings.DATABASE_STATEMENT_TIMEOUT_MS,
    // The server ends a statement in time; this ends the wait for a server that is gone without a word.
    query_timeout: settings.DATABASE_STATEMENT_TIMEOUT_MS + 2000,
  };
  return connectPostgresql(target, limits, options);
}

async function noAnswer(target: DatabaseTarget, error: unknown): Promise<DatabaseUnavailableException> {
  const known = await unreachableReason(target, error);
  const reason = known ?? (error instanceof Error ? error.message.trim() : String(error));
  const message = `No answer from the database at ${target.description}: ${reason}. Check DATABASE_URL and that the database runs.`;
  return new DatabaseUnavailableException(message, undefined, { cause: error });
}
