import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from '@prisma/driver-adapter-utils';
import type { Unit } from '../work/unit.ts';

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

/** Runs work inside of a unit. */
export function inUnit<T>(unit: Unit, work: () => T): T {
  return units.run(unit, work);
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

/** A connection that was lent for a transaction. */
interface LentConnection {
  /**
   * Ends the statement that it runs; resolves once a cancellation can no longer hit the next statement. A connection whose statement
   * cannot be ended is closed.
   *
   * @param ended resolves when the statement has ended
   */
  stop(ended: Promise<void>): Promise<void>;
}

/** A transaction as the driver has it. */
export type DriverTransaction = Pick<
  Transaction,
  'queryRaw' | 'createSavepoint' | 'rollbackToSavepoint' | 'releaseSavepoint'
>;

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
