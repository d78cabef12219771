import { guessedFields, isOfRelated, type NotFound } from './conflict-fields.ts';

/**
 * The shapes of errors that Prisma 7, its driver adapters, pg and libsql raise. None of them is public API, so all that
 * is known of them stands in this file alone; test/chassis/database/database-errors.test.ts provokes each on both
 * databases.
 */

/** What a database error means to a caller. */
export type FaultKind =
  | 'duplicate'
  | 'reference'
  | 'check'
  | 'missing'
  | 'invalid'
  | 'mistake'
  | 'unavailable'
  | 'failed';

/** A database error, understood. */
export interface Fault {
  readonly kind: FaultKind;
  readonly error: unknown;
  readonly model?: string;
  /** The columns concerned, where the database tells. */
  readonly fields?: readonly string[];
  /** The broken constraint, where the database tells. */
  readonly index?: string;
  /** Whether what is not there is a record that the written one was to be related to. */
  readonly related?: boolean;
  /** Why the database is unavailable, in words. */
  readonly reason?: string;
}

/** The error of a driver as the adapters describe it. */
export interface DriverCause {
  kind?: string;
  code?: string;
  severity?: string;
  originalCode?: string;
  originalMessage?: string;
  constraint?: { index?: string; fields?: string[] };
  table?: string;
}

type Meaning = readonly [kind: FaultKind, reason?: string];

/** All that the adapter lets through of a connection that cannot be opened; `unreachableReason` finds out more. */
export const cannotBeReached = 'it cannot be reached';
/** No turn at the connections of this service came in time. */
export const noConnectionFree = 'no connection became free in time';

const statementTookTooLong = 'a statement took too long';
const diskIsFull = 'its disk is full';
const connectionClosed = 'the connection was closed';
const answeredTooLate = 'it answered too late';

const byAdapterKind: Record<string, Meaning> = {
  UniqueConstraintViolation: ['duplicate'],
  ForeignKeyConstraintViolation: ['reference'],
  RestrictViolation: ['reference'],
  NullConstraintViolation: ['invalid'],
  LengthMismatch: ['invalid'],
  ValueOutOfRange: ['invalid'],
  InvalidInputValue: ['invalid'],
  SocketTimeout: ['unavailable', 'it is busy or answered too late'],
  ConnectionClosed: ['unavailable', connectionClosed],
  DatabaseNotReachable: ['unavailable', cannotBeReached],
  DatabaseDoesNotExist: ['unavailable', 'it does not exist'],
  AuthenticationFailed: ['unavailable', 'it refused the user or password'],
  DatabaseAccessDenied: ['unavailable', 'it refused the user'],
  TlsConnectionError: ['unavailable', 'no secure connection'],
  TooManyConnections: ['unavailable', 'it has no connection left'],
  TransactionWriteConflict: ['unavailable', 'another transaction was in the way'],
};

const byPrismaCode: Record<string, Meaning> = {
  P1000: ['unavailable', 'it refused the user or password'],
  P1001: ['unavailable', cannotBeReached],
  P1002: ['unavailable', answeredTooLate],
  P1003: ['unavailable', 'it does not exist'],
  P1008: ['unavailable', 'it is busy or answered too late'],
  P1010: ['unavailable', 'it refused the user'],
  P1011: ['unavailable', 'no secure connection'],
  P1017: ['unavailable', connectionClosed],
  P2000: ['invalid'],
  P2002: ['duplicate'],
  P2003: ['reference'],
  P2011: ['invalid'],
  P2014: ['reference'],
  P2020: ['invalid'],
  P2024: ['unavailable', noConnectionFree],
  P2025: ['missing'],
  P2028: ['unavailable', 'a transaction took too long'],
  P2033: ['invalid'],
  P2034: ['unavailable', 'another transaction was in the way'],
  P2037: ['unavailable', 'it has no connection left'],
};

/** PostgreSQL's own codes that the adapter leaves as they are; the longest prefix counts. */
const bySqlState: Record<string, Meaning> = {
  '57014': ['unavailable', statementTookTooLong],
  '57P': ['unavailable', 'it is shutting down or starting'],
  '55P03': ['unavailable', 'a lock was held too long'],
  '25006': ['unavailable', 'it is read-only'],
  '53100': ['unavailable', diskIsFull],
  '53200': ['unavailable', 'it is out of memory'],
  '53': ['unavailable', 'it is out of resources'],
  '08': ['unavailable', connectionClosed],
  '25P03': ['unavailable', 'a transaction took too long'],
  '22': ['invalid'],
  '23514': ['check'],
};

/** The same of errors that refuse or end a session: in one that goes on these codes say something else. */
const byFatalState: Record<string, Meaning> = {
  // A database with ALLOW_CONNECTIONS false; in a session such as currval of a sequence that was not asked for a value.
  '55000': ['unavailable', 'it accepts no connections'],
};

/** SQLite's result codes, whole or by their last byte, which names the kind. */
const bySqliteCode: Record<number, Meaning> = {
  275: ['check'],
  5: ['unavailable', 'it is busy or answered too late'],
  7: ['unavailable', 'it is out of memory'],
  8: ['unavailable', 'it is read-only'],
  10: ['unavailable', 'its disk failed'],
  13: ['unavailable', diskIsFull],
  14: ['unavailable', 'its file cannot be opened'],
};

const byDriverMessage: Record<string, Meaning> = {
  'timeout exceeded when trying to connect': ['unavailable', noConnectionFree],
  'Connection terminated due to connection timeout': ['unavailable', cannotBeReached],
  'Connection terminated unexpectedly': ['unavailable', connectionClosed],
  'Connection terminated': ['unavailable', connectionClosed],
  'Client has encountered a connection error and is not queryable': ['unavailable', connectionClosed],
  'Client was closed and is not queryable': ['unavailable', connectionClosed],
  'Query read timeout': ['unavailable', answeredTooLate],
};

/** Of a connection that could not be opened. */
const unreachableCodes = /^(ECONNREFUSED|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOENT)$/;
/** Of one that was open. */
const closedCodes = /^(ECONNRESET|EPIPE)$/;

/** Refusals that come from no database: the client's of arguments that do not fit the models, and that of the SQLite connection. */
const byErrorName: Record<string, FaultKind> = {
  PrismaClientValidationError: 'mistake',
  NulCharacterError: 'invalid',
  LongDecimalError: 'invalid',
  ColumnValueError: 'invalid',
};

/** What an error of the database means; undefined when it is not recognised as one. */
export function classifyDatabaseError(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'PrismaClientKnownRequestError') return knownFault(error as PrismaError);
  const refusal = byErrorName[error.name];
  if (refusal) return { kind: refusal, error };
  if (error.name === 'DriverAdapterError') return driverFault(error, error.cause as DriverCause);
  const [kind, reason] = byDriverMessage[error.message] ?? driverMeaning(error) ?? [];
  if (kind) return describe({ kind, error }, { reason });
  return error.name.startsWith('PrismaClient') ? { kind: 'failed', error } : undefined;
}

/** An error of the client, with that of the driver inside. */
export interface PrismaError extends Error {
  code: string;
  meta?: { modelName?: string; driverAdapterError?: { cause?: DriverCause } } & NotFound['meta'];
}

function knownFault(error: PrismaError): Fault {
  if (isOfRelated(error))
    return describe({ kind: 'reference', error, related: true }, { model: error.meta?.modelName });
  const cause = error.meta?.driverAdapterError?.cause;
  const found = cause && driverFault(error, cause);
  const [kind, reason] = byPrismaCode[error.code] ?? socketMeaning(error.code) ?? ['failed'];
  const base = found && found.kind !== 'failed' ? found : describe({ kind, error }, { reason });
  return describe(base, { model: error.meta?.modelName });
}

function driverFault(error: Error, cause: DriverCause | undefined): Fault {
  const state = cause?.originalCode ?? cause?.code;
  const [kind, reason] = byAdapterKind[cause?.kind ?? ''] ?? codeMeaning(state, cause) ?? ['failed'];
  return describe({ kind, error }, { reason, index: cause?.constraint?.index, fields: guessedFields(cause) });
}

/** A bare error of a driver: pg's carry a severity and an SQL state, sockets' a system code and a system call. */
function driverMeaning(error: Error & { code?: unknown; severity?: unknown }): Meaning | undefined {
  if (typeof error.code !== 'string') return undefined;
  if (error.name === 'LibsqlError') return error.code === 'SQLITE_BUSY' ? byPrismaCode.P1008 : ['failed'];
  return typeof error.severity === 'string' ? (sqlStateMeaning(error.code, error.severity) ?? ['failed']) : undefined;
}

function codeMeaning(code: string | undefined, { kind, severity }: DriverCause = {}): Meaning | undefined {
  if (kind === 'sqlite') return bySqliteCode[Number(code)] ?? bySqliteCode[Number(code) & 255];
  return sqlStateMeaning(code, severity);
}

function sqlStateMeaning(state: string | undefined, severity: string | undefined): Meaning | undefined {
  if (state === undefined) return undefined;
  if (severity === 'FATAL' && byFatalState[state]) return byFatalState[state];
  return socketMeaning(state) ?? bySqlState[state] ?? bySqlState[state.slice(0, 3)] ?? bySqlState[state.slice(0, 2)];
}

function socketMeaning(code: string): Meaning | undefined {
  if (closedCodes.test(code)) return byPrismaCode.P1017;
  return unreachableCodes.test(code) ? byPrismaCode.P1001 : undefined;
}

function describe(
  fault: Fault,
  more: { [K in 'model' | 'fields' | 'index' | 'reason']?: Fault[K] | undefined },
): Fault {
  const known = Object.entries(more).filter(([, value]) => value !== undefined);
  return { ...fault, ...Object.fromEntries(known) };
}

/** Whether a statement that failed for this reason may have been carried out: it was sent, and no answer came. */
export function isAnswerLost(reason: string | undefined): boolean {
  return reason === connectionClosed || reason === answeredTooLate;
}

/** Whether a statement ran into its time limit, as it would elsewhere; however deep that stands among the causes. */
export function ranIntoTimeLimit(error: unknown): boolean {
  return hasReason(error, statementTookTooLong);
}

/** Whether a statement or a commit found the disk of the database full, however deep that stands among the causes. */
export function ranOutOfDisk(error: unknown): boolean {
  return hasReason(error, diskIsFull);
}

function hasReason(error: unknown, reason: string): boolean {
  if (!(error instanceof Error)) return false;
  return classifyDatabaseError(error)?.reason === reason || hasReason(error.cause, reason);
}

/** Whether a statement failed because a table is not there, however deep that stands among the causes. */
export function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { meta } = error as PrismaError;
  const cause = (meta?.driverAdapterError?.cause ?? error.cause) as DriverCause | undefined;
  if (cause?.kind === 'TableDoesNotExist' || cause?.originalMessage?.includes('no such table')) return true;
  return isMissingTable(error.cause);
}
