import type { SqlDriverAdapter, SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { currentBorrower } from './current-work.ts';

/** An adapter that tells which connection it made, and units of work which transactions, so that not only the client of the ORM can use them. */
export function sharedConnection(adapter: SqlDriverAdapterFactory) {
  let made: SqlDriverAdapter | undefined;
  const connected = async () => {
    const connection = await adapter.connect();
    const start = connection.startTransaction.bind(connection);
    connection.startTransaction = async (level) => {
      const borrower = currentBorrower('transaction');
      const transaction = await start(level);
      if (borrower) borrower.transaction = transaction;
      return transaction;
    };
    made = connection;
    return connection;
  };
  const factory = { provider: adapter.provider, adapterName: adapter.adapterName, connect: connected };
  const shared = () => {
    if (made) return made;
    throw new Error('Expected the ORM client to have connected, found that it has not.');
  };
  return { factory, shared };
}
