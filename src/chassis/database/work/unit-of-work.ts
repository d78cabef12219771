import { currentService } from '../../context/current-service.ts';
import { chargeRequest, stopAbandoned } from '../../context/request-context.ts';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import { type Borrower, borrowing, currentUnit, innermostUnit, inUnit } from '../client/current-work.ts';
import { toDatabaseException } from '../client/database-errors.ts';
import { providerOf } from '../client/database-kind.ts';
import type { OrmClient } from '../client/orm-types.ts';
import { isTransactionConflict } from '../client/transaction-errors.ts';
import { runAfterCommit } from './after-commit.ts';
import { restoringVersion } from './expected-version.ts';
import { Expiry } from './expiry.ts';
import { withRetries } from './retries.ts';
import { type DriverTransaction, type Isolation, Unit } from './unit.ts';

const defaultTimeoutMs = 5000;
/** Node fires a timer that is set for longer at once. */
const longestTimerMs = 2_147_483_647 - 1000;

/** What Prisma calls the isolation levels, the weakest first. */
const isolationLevels: Record<Isolation, string> = {
  'read-committed': 'ReadCommitted',
  'repeatable-read': 'RepeatableRead',
  serializable: 'Serializable',
};

/** How a unit of work runs. Those of a nested one are its outermost's. */
export interface UnitOfWorkOptions {
  /**
   * `repeatable-read` by default: all reads see one moment, and a record that another unit changed since then raises a
   * conflict when it is written, so no update is lost. `serializable` excludes every other anomaly too;
   * `read-committed` lets each statement see what is committed when it begins, and updates can be lost. SQLite runs every
   * unit serializable, one after the other; a nested one that asks for more than its outermost is refused there too.
   */
  readonly isolation?: Isolation;
  /**
   * How long an attempt may take, in milliseconds; 5,000 by default. On PostgreSQL a statement that runs then is
   * cancelled; SQLite cannot be stopped, so there the unit ends with its statement, after DATABASE_STATEMENT_TIMEOUT_MS at
   * the latest.
   */
  readonly timeoutMs?: number;
  /**
   * How often the work is tried again after a conflict with another transaction or a deadlock; 0 by default. All of the
   * work runs again: what it does beside the database belongs into `afterCommit`.
   */
  readonly retries?: number;
}

/**
 * What a unit costs in units of `chargeRequest`, somewhat less than a page of a list: it keeps the process busy for twice as
 * long, some 15 ms for an order of one line, and the database for less.
 */
const costOfUnit = 50;

/** A client or a transaction of it, of which only the means to begin a transaction is asked. */
interface Beginning {
  $transaction<T>(work: (transaction: OrmClient) => Promise<T>, options?: object): Promise<T>;
}

/**
 * Runs `work` as one unit on the service's database: all that its repositories write is stored or, when it raises,
 * nothing. Repositories join by themselves, however deep they are called; their reads see the unit's writes and are
 * shared with nobody. A unit inside another is a savepoint: when it raises and the outer one catches that, only the inner
 * writes are undone. A query that fails outside of a nested unit undoes the unit, also when its error is caught, on both
 * databases.
 *
 * Queries and nested units that run in parallel take turns. Every query has to be awaited before the work ends. The request
 * is charged with 50 units for one that is in no other.
 *
 * @throws what `work` raises
 * @throws TooManyRequestsException, ServiceUnavailableException as `chargeRequest` does, before anything begins
 * @throws DatabaseUnavailableException (503) when it takes too long, or after the last attempt met a conflict
 * @throws InternalServerErrorException when a query outlives the unit, the unit goes on after a failed query, or an option
 *   is out of its bounds
 * @throws Error where the current service is not known
 */
export async function unitOfWork<T>(work: () => Promise<T>, options?: UnitOfWorkOptions): Promise<T> {
  return unitOfWorkOn(currentService().database.client, work, options);
}

/** `unitOfWork` on the database of this client. */
export async function unitOfWorkOn<T>(
  client: OrmClient,
  work: () => Promise<T>,
  options: UnitOfWorkOptions = {},
): Promise<T> {
  refuseUnusable(options);
  const parent = currentUnit(client);
  if (parent) return restoringVersion(() => nested(parent, work, options));
  chargeRequest(costOfUnit);
  let metConflict = false;
  const attempt = () => {
    metConflict = false;
    return restoringVersion(() => outermost(client, work, options, () => (metConflict = true)));
  };
  return withRetries(options.retries ?? 0, attempt, (error) => metConflict || isTransactionConflict(error));
}

/** @param conflicted called when a query met a conflict, which the work may have turned into an error of its own */
async function outermost<T>(
  client: OrmClient,
  work: () => Promise<T>,
  options: UnitOfWorkOptions,
  conflicted: () => void,
): Promise<T> {
  stopAbandoned();
  const { timeoutMs = defaultTimeoutMs, isolation = 'repeatable-read' } = options;
  const sqlite = providerOf(client) === 'sqlite';
  let unit: Unit | undefined;
  const borrower: Borrower = {};
  const begin = async (transaction: OrmClient) => {
    const expiry = new Expiry(timeoutMs, borrower.connection);
    const driver = driverOf(borrower);
    unit = new Unit({ client, transaction, expiry, isolation, driver, outer: innermostUnit() });
    return runUnit(unit, work).finally(() => {
      expiry.stop();
      if (unit?.hasMetConflict) conflicted();
    });
  };
  const transact = () =>
    (client as unknown as Beginning).$transaction(begin, {
      maxWait: timeoutMs,
      // The unit ends in time by itself; this is for one whose last query does not come back.
      timeout: timeoutMs + 1000,
      ...(!sqlite && { isolationLevel: isolationLevels[isolation] }),
    });
  const result = await borrowing(borrower, transact);
  await runAfterCommit(unit?.afterCommit ?? []);
  return result;
}

function nested<T>(parent: Unit, work: () => Promise<T>, { isolation }: UnitOfWorkOptions): Promise<T> {
  refuseStronger(isolation, parent.isolation);
  return parent.turn(async () => {
    const unit = new Unit({ ...parent, parent, outer: innermostUnit() });
    const result = await inSavepoint(unit, () => runUnit(unit, work));
    parent.afterCommit.push(...unit.afterCommit);
    return result;
  });
}

function runUnit<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
  return unit.run(() => inUnit(unit, work));
}

/** By the driver: the ORM's own nested transactions take twice as long for each two levels. */
async function inSavepoint<T>({ driver, depth }: Unit, work: () => Promise<T>): Promise<T> {
  const name = `unit_${depth}`;
  await driver.createSavepoint?.(name).catch(raiseConverted);
  try {
    const result = await work();
    await driver.releaseSavepoint?.(name).catch(raiseConverted);
    return result;
  } catch (error) {
    // It outlives its own undoing, and the next one of its name would be nested in it. Where this fails the transaction is
    // lost, which its next statement says.
    await driver
      .rollbackToSavepoint?.(name)
      .then(() => driver.releaseSavepoint?.(name))
      .catch(() => undefined);
    throw error;
  }
}

function raiseConverted(error: unknown): never {
  throw toDatabaseException(error) ?? error;
}

function driverOf({ transaction }: Borrower): DriverTransaction {
  if (transaction?.createSavepoint) return transaction;
  throw new Error('Expected the driver to have begun a transaction with savepoints, found none.');
}

function refuseUnusable({ isolation, timeoutMs, retries }: UnitOfWorkOptions): void {
  const whole = (value: number | undefined, minimum: number) =>
    value === undefined || (Number.isInteger(value) && value >= minimum && value <= longestTimerMs);
  if (whole(timeoutMs, 1) && whole(retries, 0) && (isolation === undefined || isolation in isolationLevels)) return;
  throw new InternalServerErrorException(
    `Expected of a unit of work timeoutMs from 1 to ${longestTimerMs}, retries from 0 and isolation one of ` +
      `${Object.keys(isolationLevels).join(', ')}; found ${JSON.stringify({ timeoutMs, retries, isolation })}.`,
  );
}

function refuseStronger(wanted: Isolation | undefined, given: Isolation): void {
  const levels = Object.keys(isolationLevels);
  if (wanted === undefined || levels.indexOf(wanted) <= levels.indexOf(given)) return;
  throw new InternalServerErrorException(
    `A nested unit of work asks for isolation ${wanted}, the outermost one began with ${given}. Ask for it there.`,
  );
}
