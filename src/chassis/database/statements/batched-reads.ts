import type { ArgType, SqlQueryable } from '@prisma/driver-adapter-utils';
import { currentWaiter } from '../../context/request-context.ts';
import { SharedRun } from '../../context/shared-run.ts';
import type { DatabaseCounts, MeasuredOperation } from '../client/current-work.ts';
import { ReadTooLongException } from '../client/read-room.ts';
import { raiseShared } from '../reads/coalesce.ts';
import { isFinal } from './final-errors.ts';

/** A statement that gives a row for each of many reads of a single record; each of its arguments is the list of their values. */
export interface StatementForEach {
  readonly model: string;
  readonly sql: string;
  readonly argTypes: ArgType[];
}

/** The values of one read, in the order of the places of its statement. */
type Values = readonly unknown[];

interface Batch {
  readonly values: Values[];
  readonly run: SharedRun;
}

interface BatchedReadsParts {
  readonly connection: Pick<SqlQueryable, 'queryRaw'>;
  /** Measures an operation and converts its errors. */
  readonly measured: (operation: MeasuredOperation) => Promise<unknown>;
  /** Told of each read that is made by one beside it. */
  readonly counts: Pick<DatabaseCounts, 'coalesced'> | undefined;
}

/** Reads that are made at once, at most. */
const mostTogether = 64;
/** How long their texts may be together, in characters: what is longer is read beside few others. */
const mostText = 500_000;

/**
 * Makes reads of single records together that differ in their values only: all that requests ask for which the event loop reads
 * in one turn is one question to the database. A read waits for the end of that turn and for no other question, so it takes no
 * longer where the database is far away.
 *
 * As a shared read does, a batch asks the database after the last of its callers did, waits for a place under each of them and
 * takes the first that comes, and goes on as long as any of them waits; see `Coalescer`.
 */
export class BatchedReads {
  readonly #parts: BatchedReadsParts;
  readonly #open = new Map<StatementForEach, Batch>();

  constructor(parts: BatchedReadsParts) {
    this.#parts = parts;
  }

  /**
   * How many reads may be made at once of which each gives as many characters. One, for a caller that waits for no place of its
   * own: outside of requests, and within what is shared already.
   */
  static most(chars: number): number {
    return currentWaiter() === undefined ? 1 : Math.min(mostTogether, Math.floor(mostText / chars));
  }

  /**
   * Makes a read.
   *
   * @param statement the same object for all reads that may be made together
   * @param most how many are, at most
   * @returns its row, of null where there is no record; undefined where each read of the batch is to be made by itself
   * @throws what all of the batch failed with, an error of its own for each
   */
  async read(statement: StatementForEach, values: Values, most: number): Promise<Values | undefined> {
    const open = this.#open.get(statement);
    const batch = open && open.values.length < most ? open : this.#begin(statement);
    const place = batch.values.push(values) - 1;
    if (batch === open) this.#parts.counts?.coalesced();
    const rows = await batch.run.join<readonly Values[] | undefined>(undefined).catch(raiseShared);
    return rows?.[place];
  }

  #begin(statement: StatementForEach): Batch {
    const values: Values[] = [];
    const batch = { values, run: new SharedRun(() => this.#ask(statement, values)) };
    this.#open.set(statement, batch);
    setImmediate(() => {
      if (this.#open.get(statement) === batch) this.#open.delete(statement);
      batch.run.close();
      void batch.run.perform();
    });
    return batch;
  }

  async #ask(
    { model, sql, argTypes }: StatementForEach,
    values: readonly Values[],
  ): Promise<readonly Values[] | undefined> {
    const { connection, measured } = this.#parts;
    const args = argTypes.map((_type, place) => values.map((ofOne) => ofOne[place]));
    const query = async () => (await connection.queryRaw({ sql, args, argTypes })).rows;
    try {
      return (await measured({ model, operation: 'findUnique', args: {}, query })) as Values[];
    } catch (error) {
      // A failure may be of one of them only, as may be its length.
      if (isFinal(error) && !(error instanceof ReadTooLongException)) throw error;
      return undefined;
    }
  }
}
