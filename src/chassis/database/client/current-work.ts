import { AsyncLocalStorage } from 'node:async_hooks';
import { stopAbandoned } from '../../context/request-context.ts';
import { DatabaseUnavailableException } from '../../errors/exceptions.ts';
import type { ReplicaOutcome } from '../../telemetry/metrics/replica-metrics.ts';
import type { DataModel } from '../models/data-model.ts';
import type { LentConnection } from '../work/expiry.ts';
import type { DriverTransaction, Unit } from '../work/unit.ts';
import { ranOutOfDisk } from './classify-database-error.ts';
import { toDatabaseException } from './database-errors.ts';
import { leavesTransactionIntact } from './transaction-errors.ts';

const units = new AsyncLocalStorage<Unit>();

/** The unit of work under way on the database of this client: the innermost one, or undefined outside of any. */
export function currentUnit(client: object): Unit | undefined {
  for (let unit = units.getStore(); unit; unit = unit.outer) if (unit.client === client) return unit;
  return undefined;
}

/** The unit of work under way, whatever its database. */
export function innermostUnit(): Unit | undefined {
  return units.getStore();
}

/** Runs work inside of a unit; the ORM's queries begin when they are awaited, which happens inside too. */
export function inUnit<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
  return units.run(unit, async () => await work());
}

/** The interactive transaction that surrounds the caller and whose client began it, where it is not that of a unit of work. */
const surrounding = new AsyncLocalStorage<{ readonly client: object; readonly transaction: object }>();

/** Whether an interactive transaction of this client, which is not that of a unit of work, surrounds the caller. */
export function isSurrounded(client: object): boolean {
  return surrounding.getStore()?.client === client;
}

/** Runs work inside of an interactive transaction of this client. */
export function inTransaction<T>(client: object, transaction: object, work: () => T): T {
  return surrounding.run({ client, transaction }, work);
}

/** The transaction of this client that surrounds the caller, of a unit of work or not; undefined outside of any. */
export function currentTransaction(client: object): object | undefined {
  const around = surrounding.getStore();
  return currentUnit(client)?.transaction ?? (around?.client === client ? around.transaction : undefined);
}

/** Learns which connection the ORM takes for a transaction, and what the driver calls it; the ORM does not say it. */
export interface Borrower {
  connection?: LentConnection | undefined;
  transaction?: DriverTransaction | undefined;
}

const borrowers = new AsyncLocalStorage<Borrower>();

/** Begins a transaction with `begin`; the first connection that a pool lends meanwhile, and the first transaction, are the borrower's. */
export function borrowing<T>(borrower: Borrower, begin: () => T): T {
  return borrowers.run(borrower, begin);
}

/** The borrower that has no connection yet, or no transaction; undefined outside `borrowing`. */
export function currentBorrower(lacking: keyof Borrower): Borrower | undefined {
  const borrower = borrowers.getStore();
  return borrower?.[lacking] ? undefined : borrower;
}

/** Where operations and shared reads are counted, such as the database metrics of a service. */
export interface DatabaseCounts {
  /** Seconds that each operation took, by model (`raw` for SQL) and operation. */
  readonly seconds: { observe(value: number, ...labels: string[]): void };
  coalesced(): void;
  /** A read went to the ORM, because the reader of JSON does not know its shape or failed. */
  leftToOrm(reason: 'shape' | 'failed'): void;
  /** A list was read from the replica, or why from the primary; see `ReplicaMetrics`. */
  readFromReplica?(outcome: ReplicaOutcome): void;
}

/** An operation whose time is measured and whose errors are converted. */
export interface MeasuredOperation {
  model?: string;
  operation: string;
  args: object | undefined;
  query(args: unknown): Promise<unknown>;
}

/** What the errors of a database tell about its disk. */
export interface DiskState {
  /** An operation found it full, and `probeDatabase` has not found room since. */
  wasFull: boolean;
}

/** What operations are measured by, what explains their errors and what remembers a full disk. */
export interface ConversionOptions {
  readonly counts?: DatabaseCounts | undefined;
  readonly disk?: DiskState | undefined;
  readonly dataModel?: DataModel | undefined;
}

/** Runs operations, measures their time and converts their errors. One that fails in a unit of work ends it. */
export function errorConverter({ counts, dataModel, disk }: ConversionOptions) {
  return async function convertErrors(
    { model, operation, args, query }: MeasuredOperation,
    unit?: Unit,
  ): Promise<unknown> {
    stopAbandoned();
    const started = performance.now();
    try {
      return await query(args);
    } catch (error) {
      const exception = toDatabaseException(error, { model, operation, args, dataModel }) ?? error;
      if (disk && ranOutOfDisk(error)) disk.wasFull = true;
      // A read that was cancelled because its request was abandoned is no failure of the database.
      if (exception instanceof DatabaseUnavailableException && !unit) stopAbandoned();
      if (unit && !leavesTransactionIntact(error, args)) unit.fail(exception);
      throw exception;
    } finally {
      counts?.seconds.observe((performance.now() - started) / 1000, model ?? 'raw', operation);
    }
  };
}
