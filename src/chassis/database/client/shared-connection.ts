import type { SqlDriverAdapter, SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { currentBorrower } from './current-work.ts';

/** A connection, and what gives the same one to the client of the ORM. */
interface SharedConnection {
  readonly connection: SqlDriverAdapter;
  readonly factory: SqlDriverAdapterFactory;
}

/**
 * Connects at once, while the client of the ORM does so with its first query: it then loads the program that compiles its
 * queries, a tenth of a start. Tells units of work which transactions it made.
 */
export async function sharedConnection(adapter: SqlDriverAdapterFactory): Promise<SharedConnection> {
  const connection = await adapter.connect();
  const start = connection.startTransaction.bind(connection);
  connection.startTransaction = async (level) => {
    const borrower = currentBorrower('transaction');
    const transaction = await start(level);
    if (borrower) borrower.transaction = transaction;
    return transaction;
  };
  const dispose = connection.dispose.bind(connection);
  let disposed: Promise<void> | undefined;
  connection.dispose = () => {
    disposed ??= dispose();
    return disposed;
  };
  const { provider, adapterName } = adapter;
  return { connection, factory: { provider, adapterName, connect: async () => connection } };
}
