import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { type SqliteClient, untilFree, untilWritable } from '../sqlite/sqlite-waiting.ts';

type Factory = SqlMigrationAwareDriverAdapterFactory;

/**
 * One transaction around everything: a second process waits for it and then finds the work done, and a migration that
 * fails, or a process that dies, leaves the file as it was. Foreign keys cannot be switched off within a transaction, as
 * SQLite's rebuilding of tables needs, so they are off from the start and checked before the end.
 *
 * @param waitMs how long to wait for another process that migrates the same file, in milliseconds
 * @throws Error where a migration leaves references to records that do not exist, and what `work` raises
 */
export async function migrateSqlite<T>(
  path: string,
  work: (factory: Factory) => Promise<T>,
  waitMs: number,
): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const open = async () => new PrismaLibSql({ url: '' }).createClient({ url: sqliteUrl(path) });
  const client = await untilFree(open, waitMs);
  try {
    await untilFree(() => client.executeMultiple('PRAGMA journal_mode = WAL;'), waitMs);
    await client.execute('PRAGMA foreign_keys = OFF');
    await untilWritable(client, waitMs);
    const transaction = await client.transaction('write');
    try {
      const result = await work(new SameConnection(transaction as unknown as SqliteClient));
      await refuseBrokenReferences(transaction as unknown as SqliteClient);
      await transaction.commit();
      return result;
    } finally {
      transaction.close();
    }
  } finally {
    client.close();
  }
}

async function refuseBrokenReferences(client: SqliteClient): Promise<void> {
  const { rows } = await client.execute('PRAGMA foreign_key_check');
  const tables = [...new Set(rows.map((row) => row.table))];
  if (tables.length > 0) {
    throw new Error(
      `A migration leaves references to records that do not exist in ${tables.join(', ')}; nothing was changed. ` +
        'Correct the data or the migration, then migrate again.',
    );
  }
}

/** The adapter on a connection that is open already and stays open. */
class SameConnection extends PrismaLibSql {
  readonly #client: SqliteClient;

  constructor(client: SqliteClient) {
    super({ url: '' });
    this.#client = client;
  }

  override createClient(): SqliteClient {
    const client = this.#client;
    return {
      execute: client.execute.bind(client),
      executeMultiple: client.executeMultiple.bind(client),
      close: () => undefined,
    } as unknown as SqliteClient;
  }
}

/** The path of a file as the driver takes it in a URL. */
function sqliteUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`;
}
