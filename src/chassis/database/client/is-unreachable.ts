import { classifyDatabaseError, type DriverCause, type PrismaError } from './classify-database-error.ts';

/** What waiting does not mend. */
const lastingKinds = new Set([
  'DatabaseDoesNotExist',
  'AuthenticationFailed',
  'DatabaseAccessDenied',
  'TlsConnectionError',
]);
const lastingCodes = new Set(['P1000', 'P1003', 'P1010', 'P1011']);

/** Whether the database, or the way to it, is away at this moment and may come back: not so for a bad password. */
export function isUnreachable(error: unknown): boolean {
  const found = classifyDatabaseError(error);
  if (found?.kind !== 'unavailable') return error instanceof Error && isUnreachable(error.cause);
  const { code, cause, meta } = error as PrismaError & { cause?: DriverCause };
  const kind = (meta?.driverAdapterError?.cause ?? cause)?.kind;
  return !lastingCodes.has(code) && !lastingKinds.has(kind ?? '');
}
