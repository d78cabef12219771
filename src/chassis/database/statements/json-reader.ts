import type { SqlQueryable } from '@prisma/driver-adapter-utils';
import { countIsKnown, getRequestContext } from '../../context/request-context.ts';
import { Remembered } from '../../query/paging/paging.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DatabaseCounts, MeasuredOperation } from '../client/current-work.ts';
import { bytesOf, type LongReads } from '../client/long-reads.ts';
import { ReadTooLongException } from '../client/read-room.ts';
import { readKey, StoredRecords, shapeKey } from '../reads/coalesce.ts';
import type { Unit } from '../work/unit.ts';
import { BatchedReads, type StatementForEach } from './batched-reads.ts';
import { isFinal } from './final-errors.ts';
import { forgetUnused, type Kept } from './forget-unused.ts';
import { windows } from './kept-plan.ts';
import { likelyChars, mostChars } from './likely-chars.ts';
import { argumentsOf, ifKnown, type StatementArguments, valuesOf } from './statement-arguments.ts';
import type { StatementTarget } from './statement-writer.ts';
import { type ReadParameters, type ReadStatement, writeCount, writeRead } from './write-statement.ts';

/** Statements that are kept. */
const mostStatements = 500;
/** Values of all statements together. Each takes about half a kilobyte, and a client says how many its filter compares with. */
const mostValues = 20_000;

/** What of a statement takes memory: one place for each value. */
interface Weighed {
  readonly values: readonly unknown[];
}

interface KeptStatement<S> extends Kept {
  readonly statement: S | undefined;
}

/** Statements by the shape of their reads. What was not asked for again is forgotten first, the first kept before others. */
export class KeptStatements<S extends Weighed> {
  readonly #kept = new Map<string, KeptStatement<S>>();
  #values = 0;

  /** Statements that are kept, and shapes for which there is none. */
  get size(): number {
    return this.#kept.size;
  }

  /** Values of those that are kept. */
  get values(): number {
    return this.#values;
  }

  /** The statement of a shape. @param make where it is not known yet; undefined where there is none */
  of(shape: string, make: () => S | undefined): S | undefined {
    const known = this.#kept.get(shape);
    if (known) {
      known.isUsed = true;
      return known.statement;
    }
    const statement = make();
    this.#kept.set(shape, { statement, isUsed: false });
    this.#values += statement?.values.length ?? 0;
    while (this.#kept.size > mostStatements || this.#values > mostValues) {
      const [, forgotten] = forgetUnused(this.#kept) ?? [];
      this.#values -= forgotten?.statement?.values.length ?? 0;
    }
    return statement;
  }
}

/** To import it anew for each takes 30 µs. */
const importSpans = () => import('../../telemetry/tracing/query-span.ts');

type Operation = 'findMany' | 'findUnique' | 'count';

/** A statement, and how the values of a read become its arguments. */
interface Statement extends Omit<ReadStatement, 'bindings' | 'forEach'>, StatementArguments {
  /** The one for many such reads of single records, where there is one. */
  readonly forEach?: StatementForEach | undefined;
  /** How long the text is that it gives as of late, in characters, or in bytes where it is long; undefined where it has given none. */
  chars?: number;
}

/** A total, and the state of the database in which it was counted. */
interface CountedTotal {
  readonly total: number;
  readonly state: string;
}

/** A list of more characters takes several times as much until it is written to its client. */
const longText = 500_000;
/** A character takes so many bytes at most. */
const bytesOfChar = 3;

/** A state in which more is being written is not kept: 20 characters for each transaction. */
const longestState = 1000;

/** What the reader works with. */
interface JsonReaderParts extends StatementTarget {
  /** The connections that the ORM uses too. */
  readonly connection: Pick<SqlQueryable, 'queryRaw'>;
  /** Measures an operation and converts its errors, as those of the ORM. */
  readonly measured: (operation: MeasuredOperation, unit?: Unit) => Promise<unknown>;
  readonly counts: DatabaseCounts | undefined;
  /** Where lists of much text take turns, so that few are in memory at once. Default: each is read at once. */
  readonly longReads?: LongReads | undefined;
}

/**
 * Reads records as JSON that the database makes (docs/decisions/0022). Each shape of a read is written once into a
 * statement. It gives undefined for a shape that it does not know and for values that it cannot vouch for; the ORM reads
 * then, and both are counted.
 */
export class JsonReader {
  readonly #parts: JsonReaderParts;
  readonly #statements = new KeptStatements<Statement>();
  /** Totals by what was counted, which hold as long as the database is in the same state (docs/decisions/0035). */
  #totals = new Remembered<CountedTotal>();
  #spans: ReturnType<typeof importSpans> | undefined;
  readonly #batches: BatchedReads;

  constructor(parts: JsonReaderParts) {
    this.#parts = parts;
    this.#batches = new BatchedReads(parts);
  }

  /** The records of a list. @param unit the unit of work in which they are read; none by default */
  findMany(model: string, parameters: ReadParameters, unit?: Unit): Promise<StoredRecords | undefined> {
    return this.#records('findMany', model, parameters, this.#statement('findMany', model, parameters), unit);
  }

  /** The record that a filter by an identifier finds, or none. */
  async findUnique(model: string, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    const statement = this.#statement('findUnique', model, parameters);
    const found = statement && (await this.#fromBatch(statement, parameters));
    return found ?? this.#records('findUnique', model, parameters, statement);
  }

  /** How many records match. */
  async count(model: string, where: Filter | undefined): Promise<number | undefined> {
    const parameters = where ? { where } : {};
    const statement = this.#statement('count', model, parameters);
    const key = this.#parts.keepsTotals ? readKey(model, parameters) : undefined;
    const totals = this.#totals;
    const known = totals.of(key);
    const rows = await this.#run('count', model, { ...parameters, state: known?.state ?? '' }, statement);
    if (rows === undefined) return undefined;
    const [counted, state] = rows[0] as [total: unknown, state?: string | null];
    // It may have waited for a connection while the one ended to whose server the state belongs.
    if (counted === null && totals !== this.#totals) return this.count(model, where);
    if (counted === null) countIsKnown();
    const total = counted === null && known ? known.total : Number(counted);
    if (state && state.length <= longestState) totals.keep(key, { total, state });
    return total;
  }

  /** Has all be counted anew, for what may be another database behind the same connections. */
  forgetTotals(): void {
    this.#totals = new Remembered();
  }

  async #records(
    operation: Operation,
    model: string,
    parameters: ReadParameters,
    statement: Statement | undefined,
    unit?: Unit,
  ): Promise<StoredRecords | undefined> {
    const rows = await this.#run(operation, model, parameters, statement, unit);
    return rows && statement && recordsOf(statement, rows);
  }

  /** A single record, read with others of the same turn; undefined where it has to be read by itself. */
  async #fromBatch(statement: Statement, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    const { forEach, chars } = statement;
    if (!forEach || chars === undefined) return undefined;
    const most = BatchedReads.most(chars);
    const args = most > 1 ? ifKnown(() => argumentsOf(statement, parameters)) : undefined;
    if (!args) return undefined;
    const asked = { operation: 'findUnique' as const, ...forEach };
    const row = await this.#traced(asked, () => this.#batches.read(forEach, args, most));
    return row && recordsOf(statement, row[0] === null ? [] : [row]);
  }

  #statement(operation: Operation, model: string, parameters: ReadParameters): Statement | undefined {
    const { take = 0, skip = 0 } = parameters;
    const window = windows.find((size) => skip + take <= size);
    const key = `${operation} ${model} ${window} ${shapeKey(parameters)}`;
    const write = operation === 'count' ? writeCount : writeRead;
    const make = (): Statement => {
      const { bindings, forEach, ...written } = write(this.#parts, model, parameters, window);
      const { argTypes, values } = valuesOf(bindings, this.#parts.dataModel);
      const sql = operation === 'findUnique' ? forEach() : undefined;
      const lists = argTypes.map((type) => ({ ...type, arity: 'list' as const }));
      const count = operation === 'count' && { chars: 0 };
      return { ...written, ...count, argTypes, values, ...(sql && { forEach: { model, sql, argTypes: lists } }) };
    };
    return this.#statements.of(key, () => ifKnown(make));
  }

  /** The rows that a statement gives; undefined where the ORM is to read. */
  async #run(
    operation: Operation,
    model: string,
    parameters: ReadParameters & { readonly state?: string },
    statement: Statement | undefined,
    unit?: Unit,
  ): Promise<unknown[][] | undefined> {
    const { measured, counts } = this.#parts;
    const connection = unit?.driver ?? this.#parts.connection;
    const args = statement && ifKnown(() => argumentsOf(statement, parameters));
    if (!statement || !args) {
      counts?.leftToOrm('shape');
      return undefined;
    }
    const { sql, argTypes } = statement;
    const ask = async () => (await connection.queryRaw({ sql, args, argTypes })).rows;
    const { longReads } = this.#parts;
    const isLong = !unit && (statement.chars ?? likelyChars(this.#parts.dataModel, model, parameters)) > longText;
    const query = longReads && isLong ? () => longReads.run(ask) : ask;
    const run = () => this.#traced({ model, operation, sql }, query);
    try {
      const asked = { model, operation, args: parameters, query: run };
      const rows = unit ? unit.turn(() => measured(asked, unit), true) : measured(asked);
      return (await rows) as unknown[][];
    } catch (error) {
      if (error instanceof ReadTooLongException) statement.chars = mostChars;
      // A failed statement undoes a unit of work, so nobody else can read there.
      if (unit || isFinal(error)) throw error;
      counts?.leftToOrm('failed');
      return undefined;
    }
  }

  /** Only a request whose trace is recorded loads what makes spans. */
  async #traced<T>(asked: { model: string; operation: Operation; sql: string }, query: () => Promise<T>): Promise<T> {
    if (!getRequestContext()?.sampled) return query();
    const { provider, server } = this.#parts;
    this.#spans ??= importSpans();
    return (await this.#spans).inQuerySpan({ provider, server, ...asked }, query);
  }
}

/** The records that a statement gave, of whose length it takes a note. */
function recordsOf(statement: Statement, rows: readonly (readonly unknown[])[]): StoredRecords {
  const texts = rows.map(([text]) => text as string);
  const records = new StoredRecords(
    statement.rewrite ? texts.map((json) => JSON.stringify(JSON.parse(json))) : texts,
    statement.kinds,
  );
  const chars = records.chars > longText / bytesOfChar ? bytesOf(texts) : records.chars;
  statement.chars = Math.max(chars, (3 * (statement.chars ?? 0) + chars) / 4);
  return records;
}
