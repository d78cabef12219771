import type { Database } from '../database/client/database.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.ts';

/** Signatures that were accepted, for as long as they could be accepted again. */
export interface SeenSignatures {
  /** Whether it is there for the first time. @param ms how long it is remembered, in milliseconds */
  add(id: string, ms: number): Promise<boolean>;
  /** Lets it be accepted again. */
  forget(id: string): Promise<void>;
}

/** A route file is made once for each prefix of its module, and each of them takes the same signatures. */
const inMemoryOf = new WeakMap<Database, SeenSignatures>();

/**
 * Those of a service: in its database where that has the table of idempotency keys, which all replicas share; else in
 * the memory of this one.
 */
export function openSeenSignatures(database: Database): SeenSignatures {
  if (database.isOpen && 'idempotencyKey' in database.client) return inDatabase(database.client);
  const seen = inMemoryOf.get(database) ?? inMemory();
  inMemoryOf.set(database, seen);
  return seen;
}

function inDatabase(client: OrmClient): SeenSignatures {
  const keys = new IdempotencyKeys(() => client, { keepMs: 0, lockMs: 0, waitMs: 0 });
  return {
    async add(id, ms) {
      const isFirst = await keys.reserve(id, ms);
      if (isFirst) await keys.removeExpired();
      return isFirst;
    },
    forget: (id) => keys.forget(id),
  };
}

/** In the order in which they came, so the first are those that expire first, or nearly so. */
function inMemory(): SeenSignatures {
  const until = new Map<string, number>();
  return {
    async add(id, ms) {
      const now = Date.now();
      for (const [old, end] of until) {
        if (end > now) break;
        until.delete(old);
      }
      if ((until.get(id) ?? 0) > now) return false;
      until.set(id, now + ms);
      return true;
    },
    async forget(id) {
      until.delete(id);
    },
  };
}
