import { InternalServerErrorException } from '../../errors/exceptions.ts';
import type { DataModel } from '../models/data-model.ts';
import { expectFilter, translateQuery } from '../reads/translate-query.ts';
import { type Reference, recordsSet } from '../scope/key-relations.ts';
import { expectReferences, runInScope } from '../scope/scoped-operation.ts';
import type { ScopedDatabase } from '../scope/scoped-query.ts';
import { ranOutOfDisk } from './classify-database-error.ts';
import {
  type ConversionOptions,
  currentTransaction,
  currentUnit,
  type DiskState,
  errorConverter,
  inTransaction,
  isSurrounded,
  type MeasuredOperation,
} from './current-work.ts';
import { toDatabaseException } from './database-errors.ts';
import type { OrmClient } from './orm-types.ts';
import { OwnTicks } from './own-ticks.ts';
import { refuseUnstorable } from './refuse-unstorable.ts';

interface Operation extends MeasuredOperation {
  __internalParams: { transaction?: unknown; dataPath?: readonly string[] };
}

interface Extensible {
  $extends(extension: object): object;
}

/** What a client's operations are measured by and kept to; values are checked where the models are given. */
interface ClientOptions extends ConversionOptions {
  /** Which database it is, and whose rows a caller may see and touch. Default: all rows, and filters as the ORM has them. */
  readonly scoped?: ScopedDatabase | undefined;
}

/**
 * The same client, whose every operation raises the exceptions of the chassis instead of the database's own errors
 * (spec.md: Errors, body rule 7): in repositories, in methods that a module adds, in raw SQL and in transactions. The time
 * of every operation is measured. An abandoned request stops before its next operation. Those of a unit of
 * work take turns. Each operation keeps to the scopes of the models that it reaches, and its filters mean the same on
 * both databases.
 */
export function convertingErrors(client: object, options: ClientOptions = {}): OrmClient {
  const { scoped, dataModel, disk } = options;
  const convertErrors = errorConverter(options);
  const ticks = new OwnTicks();
  const translated = ({ model, args }: Operation) =>
    scoped && model !== undefined && args ? translateQuery(args, model, scoped) : args;
  const checked = (own: Operation): MeasuredOperation => ({
    ...own,
    args: translated(own),
    query: async (args) => {
      if (dataModel) refuseUnstorable(dataModel, own.model, args);
      if (own.operation.startsWith('findUnique') && own.__internalParams.transaction === undefined) await ticks.take();
      return own.query(args);
    },
  });
  const run = async (operation: Operation) => {
    const unit = currentUnit(extended);
    const isOwn = operation.__internalParams.transaction !== undefined;
    if (!isOwn && (unit || isSurrounded(extended))) throw bypassed(`query ${nameOf(operation)}`);
    const perform = (own: Operation) => {
      const asked = checked(own);
      return unit ? unit.turn(() => convertErrors(asked, unit), true) : convertErrors(asked);
    };
    const { model } = operation;
    if (!scoped || model === undefined) return perform(operation);
    expectFilter(operation.args, nameOf(operation));
    const client = (isOwn ? currentTransaction(extended) : undefined) ?? extended;
    await expectReferences(client, setIn(scoped.dataModel, { ...operation, model }));
    if (scoped.rules.isEmpty) return perform(operation);
    const path = followed(operation);
    return runInScope(scoped, { ...operation, model, service: extended, client, path }, (args) =>
      perform({ ...operation, args: args as object }),
    );
  };
  const extended = (client as Extensible).$extends({ query: { $allOperations: run } });
  return Object.assign(extended, { $transaction: convertTransactionErrors(extended, disk) }) as OrmClient;
}

/** What the data of an operation sets in the place of other records. */
function setIn(dataModel: DataModel, { model, operation, args }: Operation & { model: string }): Reference[] {
  if (operation !== 'update' && operation !== 'upsert') return [];
  const { data, update } = (args ?? {}) as { data?: object; update?: object };
  return recordsSet(dataModel, model, data ?? update);
}

/** The relations that a call such as `findUnique(…).customer()` follows: of `select, customer` every second. */
function followed({ __internalParams: { dataPath = [] } }: Operation): string[] {
  return dataPath.filter((_word, index) => index % 2 === 1);
}

function nameOf({ model, operation }: Operation): string {
  return model ? `${model}.${operation}` : operation;
}

function bypassed(what: string): InternalServerErrorException {
  return new InternalServerErrorException(
    `The ${what} was about to run outside of the unit of work or transaction that surrounds it. ` +
      'Use unitOfWork, which repositories join by themselves, and ask this.orm of a repository at each use.',
  );
}

/**
 * Errors of the transaction itself, such as its time limit, come from no operation. Inside one, `this` is its client. What
 * would run beside the transaction, such as a repository's query or a transaction that the service's client begins, is
 * refused: it would be stored whatever becomes of it.
 */
function convertTransactionErrors(client: object, disk?: DiskState): (...args: unknown[]) => Promise<unknown> {
  const { $transaction } = client as { $transaction(...args: unknown[]): Promise<unknown> };
  return async function (this: object, first, ...options) {
    const work = first as (transaction: object) => unknown;
    if (this === client && (currentUnit(client) || isSurrounded(client))) throw bypassed('operation $transaction');
    const inside = (transaction: object) => inTransaction(client, transaction, async () => await work(transaction));
    try {
      return await $transaction.call(this, typeof first === 'function' ? inside : first, ...options);
    } catch (error) {
      // SQLite may find the disk full no sooner than at the commit, which writes what was in its cache.
      if (disk && ranOutOfDisk(error)) disk.wasFull = true;
      throw toDatabaseException(error) ?? error;
    }
  };
}
