import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../database/client/database.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { IdempotencyKeys, type OwnedKey } from '../idempotency/idempotency-keys.ts';

/** Signatures that were accepted, for as long as they could be accepted again. */
export interface SeenSignatures {
  /** Notes one that is there for the first time; undefined for another. @param ms how long it is remembered, in milliseconds */
  add(id: string, ms: number): Promise<OwnedKey | undefined>;
  /** Lets it be accepted again, unless that has happened since then. @param receipt what `add` gave */
  forget(receipt: OwnedKey): Promise<void>;
}

const firstPauseMs = 250;
const longestPauseMs = 64_000;

type Forgetful = Pick<SeenSignatures, 'forget'>;

interface ErrorLog {
  error(fields: object, message: string): void;
}

interface WarningLog {
  warn(fields: object, message: string): void;
}

/**
 * Lets a request that failed come again with its signature, also where it failed because the database is away: the signature is
 * forgotten once the database is back within two minutes. Does not wait for that.
 */
export async function forgetInTime(seen: Forgetful, receipt: OwnedKey, logger: ErrorLog): Promise<void> {
  await seen.forget(receipt).catch(() => void forgetLater(seen, receipt, logger));
}

async function forgetLater(seen: Forgetful, receipt: OwnedKey, logger: ErrorLog): Promise<void> {
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    await wait(pauseMs, undefined, { ref: false });
    const [forgotten] = await Promise.allSettled([seen.forget(receipt)]);
    if (forgotten.status === 'fulfilled') return;
    if (pauseMs >= longestPauseMs)
      return logger.error({ err: forgotten.reason }, 'webhook failed, and is refused when it comes again');
  }
}

/** A route file is made once for each prefix of its module, and each of them takes the same signatures. */
const inMemoryOf = new WeakMap<Database, SeenSignatures>();

/**
 * Those of a service: in its database where that has the table of idempotency keys, which all replicas share; else in
 * the memory of this one.
 */
export function openSeenSignatures(database: Database, log: WarningLog): SeenSignatures {
  if (database.isOpen && 'idempotencyKey' in database.client) return inDatabase(database.client, log);
  const seen = inMemoryOf.get(database) ?? inMemory();
  inMemoryOf.set(database, seen);
  return seen;
}

function inDatabase(client: OrmClient, log: WarningLog): SeenSignatures {
  const keys = new IdempotencyKeys(() => client, { keepMs: 0, lockMs: 0, waitMs: 0 });
  return {
    async add(id, ms) {
      const receipt = await keys.reserve(id, ms);
      // The request goes on whether or not these can be removed; the next one tries again.
      if (receipt)
        await keys.removeExpired().catch((err: unknown) => log.warn({ err }, 'expired signatures not removed'));
      return receipt;
    },
    forget: (receipt) => keys.release(receipt),
  };
}

/** In the order in which they came, so the first are those that expire first, or nearly so. */
function inMemory(): SeenSignatures {
  const seen = new Map<string, { owner: string; until: number }>();
  return {
    async add(id, ms) {
      const now = Date.now();
      for (const [old, { until }] of seen) {
        if (until > now) break;
        seen.delete(old);
      }
      if ((seen.get(id)?.until ?? 0) > now) return undefined;
      const owner = randomUUID();
      seen.set(id, { owner, until: now + ms });
      return { id, owner };
    },
    async forget({ id, owner }) {
      if (seen.get(id)?.owner === owner) seen.delete(id);
    },
  };
}
