import type { SqlDriverAdapter, SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';

/** An adapter that tells which connection it made, so that not only the client of the ORM can use it. */
export function sharedConnection(adapter: SqlDriverAdapterFactory) {
  let made: SqlDriverAdapter | undefined;
  const connected = async () => {
    made = await adapter.connect();
    return made;
  };
  const factory = { provider: adapter.provider, adapterName: adapter.adapterName, connect: connected };
  const shared = () => {
    if (made) return made;
    throw new Error('Expected the ORM client to have connected, found that it has not.');
  };
  return { factory, shared };
}
