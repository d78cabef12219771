import type { Transaction } from '@prisma/driver-adapter-utils';
import { DatabaseUnavailableException, InternalServerErrorException } from '../../errors/exceptions.ts';
import type { OrmClient } from '../client/orm-types.ts';
import { isTransactionConflict } from '../client/transaction-errors.ts';
import { type Expiry, tookTooLong } from './expiry.ts';

/** How much of other transactions a unit of work sees, from least to most isolated. */
export type Isolation = 'read-committed' | 'repeatable-read' | 'serializable';

/** A transaction as the driver has it. */
export type DriverTransaction = Pick<
  Transaction,
  'queryRaw' | 'createSavepoint' | 'rollbackToSavepoint' | 'releaseSavepoint'
>;

interface UnitParts {
  readonly client: OrmClient;
  readonly transaction: OrmClient;
  readonly expiry: Expiry;
  readonly isolation: Isolation;
  /** The same transaction as the driver has it. */
  readonly driver: DriverTransaction;
  readonly parent?: Unit;
  readonly outer: Unit | undefined;
}

/**
 * A transaction under way, or with a parent a savepoint in one. Its queries and the units nested in it take turns: a
 * query of the outer unit can never become part of a nested one that is undone.
 */
export class Unit {
  /** The service's client of this database, by which the unit is found. */
  readonly client: OrmClient;
  /** The client whose queries belong to the unit. */
  readonly transaction: OrmClient;
  readonly expiry: Expiry;
  readonly isolation: Isolation;
  /** The same transaction as the driver has it. */
  readonly driver: DriverTransaction;
  /** The unit on the same database in which this one is nested. */
  readonly parent: Unit | undefined;
  /** The unit that surrounds this one, on whatever database. */
  readonly outer: Unit | undefined;
  /** What runs once the transaction is committed. */
  readonly afterCommit: (() => unknown)[] = [];
  #ended = false;
  #failure: unknown;
  #hasMetConflict = false;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor({ client, transaction, expiry, isolation, driver, parent, outer }: UnitParts) {
    this.client = client;
    this.transaction = transaction;
    this.expiry = expiry;
    this.isolation = isolation;
    this.driver = driver;
    this.parent = parent;
    this.outer = outer;
  }

  /**
   * Runs the unit's work to its end.
   *
   * @param work runs inside of the unit
   *
   * @throws what the work raises, DatabaseUnavailableException when the time is over, and InternalServerErrorException when the work left a query behind or went on after one had failed.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await Promise.race([work(), this.expiry.reached]);
      this.#refuseFailed();
      if (this.#waiting > 0) throw leftBehind(this.#waiting);
      return result;
    } finally {
      this.#ended = true;
      // A query that still runs must not come after the statement that undoes or commits the unit.
      await this.expiry.settled(this.#last);
    }
  }

  /**
   * Runs a query or a nested unit, by itself, after all that was asked for before.
   *
   * @param isQuery whether it is a query, which ends when the time is over
   */
  async turn<T>(work: () => Promise<T>, isQuery = false): Promise<T> {
    this.#refuse();
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#waiting += 1;
    try {
      this.expiry.queued += 1;
      await before;
      this.expiry.queued -= 1;
      this.#refuse();
      if (isQuery) this.expiry.statement = promise;
      return await work();
    } finally {
      if (isQuery) this.expiry.statement = undefined;
      this.#waiting -= 1;
      resolve();
    }
  }

  /** How many units of the same transaction surround it. */
  get depth(): number {
    return this.parent ? this.parent.depth + 1 : 0;
  }

  /** Whether another transaction was in the way of a statement of the unit, or of one nested in it. */
  get hasMetConflict(): boolean {
    return this.#hasMetConflict;
  }

  /** Notes that a statement failed: PostgreSQL undoes all of the unit then, so the unit cannot go on. */
  fail(error: unknown): void {
    this.#failure ??= error;
    if (!isTransactionConflict(error)) return;
    // The units around it can go on, but what they raise then may come of the conflict.
    for (let unit: Unit | undefined = this; unit; unit = unit.parent) unit.#hasMetConflict = true;
  }

  /** Adds what runs after the commit. @throws InternalServerErrorException when the unit is over */
  addAfterCommit(work: () => unknown): void {
    this.#refuse();
    this.afterCommit.push(work);
  }

  #refuse(): void {
    for (let unit: Unit | undefined = this; unit; unit = unit.parent) if (unit.#ended) throw outlived();
    // On SQLite queries can keep timers from their turn.
    if (performance.now() >= this.expiry.at) throw tookTooLong();
    this.#refuseFailed();
  }

  #refuseFailed(): void {
    const failure = this.#failure;
    if (failure === undefined) return;
    if (failure instanceof DatabaseUnavailableException) throw failure;
    throw new InternalServerErrorException(
      'A unit of work went on after one of its queries had failed, which undoes all of it. Run what may fail in a nested unit of work.',
      undefined,
      { cause: failure },
    );
  }
}

function outlived(): InternalServerErrorException {
  return new InternalServerErrorException(
    'A query belongs to a unit of work that is over. Await all work inside of the unit, or start it outside.',
  );
}

function leftBehind(count: number): InternalServerErrorException {
  return new InternalServerErrorException(
    `A unit of work ended with ${count} of its queries under way, so it is undone. Await each of them inside of the unit.`,
  );
}
