import { classifyDatabaseError, type DriverCause, type PrismaError } from './classify-database-error.ts';

/** Serialization failure and deadlock, as PostgreSQL names them. */
const conflictStates = new Set(['40001', '40P01']);

/** The parts of a write that concern related records. */
const nestedWrite = /^(create|connect|update|upsert|delete|disconnect)/;

/** Whether another transaction was in the way, so that the same work can succeed when it is tried again. */
export function isTransactionConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, meta } = error as PrismaError;
  const cause = (meta?.driverAdapterError?.cause ?? error.cause) as DriverCause | undefined;
  // SQLite's codes come as text from its driver and as numbers from the adapter; extended ones end with the same byte.
  const busy = code === 'SQLITE_BUSY' || (cause?.kind === 'SocketTimeout' && (Number(cause.originalCode) & 255) === 5);
  if (busy || code === 'P2034' || cause?.kind === 'TransactionWriteConflict') return true;
  return conflictStates.has(cause?.originalCode ?? '') || isTransactionConflict(error.cause);
}

/**
 * Whether a transaction is after this error of a query as it was before: so when a record was not there, and no write of
 * related records had begun.
 */
export function leavesTransactionIntact(error: unknown, args: unknown): boolean {
  if (classifyDatabaseError(error)?.kind !== 'missing') return false;
  const { data } = (args ?? {}) as { data?: object };
  const parts = Object.values(data ?? {}).filter((part) => typeof part === 'object' && part !== null);
  return !parts.some((part: object) => Object.keys(part).some((key) => nestedWrite.test(key)));
}
