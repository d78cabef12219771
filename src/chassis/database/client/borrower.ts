import { AsyncLocalStorage } from 'node:async_hooks';

/** A connection that was lent for a transaction. */
export interface LentConnection {
  /**
   * Ends the statement that it runs; resolves once a cancellation can no longer hit the next statement. A connection whose statement
   * cannot be ended is closed.
   *
   * @param ended resolves when the statement has ended
   */
  stop(ended: Promise<void>): Promise<void>;
}

/** Learns which connection the ORM takes for a transaction; the ORM does not say it. */
export interface Borrower {
  connection?: LentConnection | undefined;
}

const borrowers = new AsyncLocalStorage<Borrower>();

/** Begins a transaction with `begin`; the first connection that a pool lends meanwhile is the borrower's. */
export function borrowing<T>(borrower: Borrower, begin: () => T): T {
  return borrowers.run(borrower, begin);
}

/** The borrower that has no connection yet; undefined outside `borrowing`. */
export function currentBorrower(): Borrower | undefined {
  const borrower = borrowers.getStore();
  return borrower?.connection ? undefined : borrower;
}
