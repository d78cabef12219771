import type { ArgType, SqlQueryable } from '@prisma/driver-adapter-utils';
import { getRequestContext } from '../../context/request-context.ts';
import {
  DatabaseUnavailableException,
  RequestAbandonedException,
  ServiceUnavailableException,
} from '../../errors/exceptions.ts';
import { Remembered } from '../../query/paging/paging.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DatabaseCounts, MeasuredOperation } from '../client/current-work.ts';
import { comparedBounds, moments, uuidText } from '../client/refuse-unstorable.ts';
import type { DataField, DataModel } from '../models/data-model.ts';
import { UnknownField } from '../models/relation-link.ts';
import { readKey, StoredRecords, shapeKey } from '../reads/coalesce.ts';
import type { Unit } from '../work/unit.ts';
import { windows } from './kept-plan.ts';
import { KeptStatements } from './kept-statements.ts';
import { UnknownShape } from './sql-dialect.ts';
import type { StatementTarget, ValuePath } from './statement-writer.ts';
import { type ReadParameters, type ReadStatement, writeCount, writeRead } from './write-statement.ts';

/** To import it anew for each takes 30 µs. */
const importSpans = () => import('../../telemetry/tracing/query-span.ts');
const finalErrors = [DatabaseUnavailableException, RequestAbandonedException, ServiceUnavailableException];

type Operation = 'findMany' | 'findUnique' | 'count';

/** A statement, and how the values of a read become its arguments. */
interface Statement extends Omit<ReadStatement, 'bindings'> {
  readonly argTypes: ArgType[];
  readonly values: readonly { readonly path: ValuePath; readonly convert: Argument['convert'] }[];
}

/** A total, and the state of the database in which it was counted. */
interface CountedTotal {
  readonly total: number;
  readonly state: string;
}

/** A state in which more is being written is not kept: 20 characters for each transaction. */
const longestState = 1000;

/** What the reader works with. */
interface JsonReaderParts extends StatementTarget {
  /** The connections that the ORM uses too. */
  readonly connection: Pick<SqlQueryable, 'queryRaw'>;
  /** Measures an operation and converts its errors, as those of the ORM. */
  readonly measured: (operation: MeasuredOperation, unit?: Unit) => Promise<unknown>;
  readonly counts: DatabaseCounts | undefined;
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

  constructor(parts: JsonReaderParts) {
    this.#parts = parts;
  }

  /** The records of a list. @param unit the unit of work in which they are read; none by default */
  findMany(model: string, parameters: ReadParameters, unit?: Unit): Promise<StoredRecords | undefined> {
    return this.#records('findMany', model, parameters, unit);
  }

  /** The record that a filter by an identifier finds, or none. */
  findUnique(model: string, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    return this.#records('findUnique', model, parameters);
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
    unit?: Unit,
  ): Promise<StoredRecords | undefined> {
    const statement = this.#statement(operation, model, parameters);
    const rows = await this.#run(operation, model, parameters, statement, unit);
    if (!rows || !statement) return undefined;
    const texts = rows.map(([text]) => text as string);
    return new StoredRecords(
      statement.rewrite ? texts.map((json) => JSON.stringify(JSON.parse(json))) : texts,
      statement.kinds,
    );
  }

  #statement(operation: Operation, model: string, parameters: ReadParameters): Statement | undefined {
    const { take = 0, skip = 0 } = parameters;
    const window = windows.find((size) => skip + take <= size);
    const key = `${operation} ${model} ${window} ${shapeKey(parameters)}`;
    const write = operation === 'count' ? writeCount : writeRead;
    const make = () => withArguments(write(this.#parts, model, parameters, window), this.#parts.dataModel);
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
    const { measured, counts, provider, server } = this.#parts;
    const connection = unit?.driver ?? this.#parts.connection;
    const args = statement && ifKnown(() => argumentsOf(statement, parameters));
    if (!statement || !args) {
      counts?.leftToOrm('shape');
      return undefined;
    }
    const { sql, argTypes } = statement;
    const query = async () => (await connection.queryRaw({ sql, args, argTypes })).rows;
    // Only a request whose trace is recorded loads what makes spans.
    const traced = async () => {
      this.#spans ??= importSpans();
      return (await this.#spans).inQuerySpan({ provider, server, model, operation, sql }, query);
    };
    try {
      const run = getRequestContext()?.sampled ? traced : query;
      const asked = { model, operation, args: parameters, query: run };
      const rows = unit ? unit.turn(() => measured(asked, unit), true) : measured(asked);
      return (await rows) as unknown[][];
    } catch (error) {
      // A failed statement undoes a unit of work, so nobody else can read there; or the ORM would meet the same.
      if (unit || finalErrors.some((Final) => error instanceof Final)) throw error;
      counts?.leftToOrm('failed');
      return undefined;
    }
  }
}

function withArguments({ bindings, ...statement }: ReadStatement, dataModel: DataModel): Statement {
  const values = bindings.map(({ path, field }) => ({ path, ...argumentOf(field, dataModel) }));
  return { ...statement, argTypes: values.map(({ argType }) => argType), values };
}

function argumentsOf({ values }: Statement, parameters: ReadParameters): unknown[] {
  const step = (value: unknown, name: string | number) => (value as Record<string | number, unknown>)[name];
  return values.map(({ path, convert }) => convert(path.reduce<unknown>(step, parameters)));
}

function ifKnown<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof UnknownField) return undefined;
    throw error;
  }
}

/** How the values of a field are given to the driver. */
interface Argument {
  readonly argType: ArgType;
  /** @throws UnknownShape for a value of another type, or one that `refuseUnstorable` would have to look at */
  readonly convert: (value: unknown) => unknown;
}

const argumentsByType: Record<string, (field: DataField) => Argument> = {
  String: ({ native }) => taking('string', (value) => isText(value) && (native !== 'Uuid' || uuidText.test(value))),
  Int: (field) => taking('int', within(field)),
  BigInt: (field) => taking('bigint', within(field), String),
  Float: () => taking('float', Number.isFinite),
  Decimal: () => taking('decimal', (value) => isText(value) && plainDecimal.test(value)),
  Boolean: () => taking('boolean', (value) => typeof value === 'boolean'),
  DateTime: () => taking('datetime', isMoment),
  Json: () => ({ argType: { scalarType: 'json', arity: 'scalar' }, convert: plainJson }),
};

const plainDecimal = /^-?\d{1,30}(\.\d{1,30})?$/;

function argumentOf(field: DataField, { enums }: DataModel): Argument {
  const { type, native, list } = field;
  const labels = enums[type];
  if (labels) {
    const isValue = (value: unknown) => isText(value) && Object.hasOwn(labels, value);
    return taking('enum', isValue, (value) => labels[value as string]);
  }
  const known = Object.hasOwn(argumentsByType, type) && !list ? argumentsByType[type]?.(field) : undefined;
  if (!known) throw new UnknownShape(`values of ${type}`);
  return native === 'Date' ? { ...known, argType: { ...known.argType, dbType: 'DATE' } } : known;
}

/** Takes the values that `holds` vouches for, and none else. */
function taking(
  scalarType: ArgType['scalarType'],
  holds: (value: unknown) => boolean,
  change = (value: unknown): unknown => value,
): Argument {
  const convert = (value: unknown) => {
    if (holds(value)) return change(value);
    throw new UnknownShape(`a value that is no plain ${scalarType}`);
  };
  return { argType: { scalarType, arity: 'scalar' }, convert };
}

/** A text that a column can hold: without NUL and half of a surrogate pair. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** Whether a value is a whole number that the field may be compared with. */
function within(field: DataField): (value: unknown) => boolean {
  const bounds = comparedBounds(field);
  if (typeof bounds !== 'object' || !('least' in bounds)) throw new UnknownShape(`bounds of ${field.type}`);
  const { least, most } = bounds;
  return (value) =>
    (Number.isInteger(value) || typeof value === 'bigint') && isBetween(value as number | bigint, least, most);
}

function isMoment(value: unknown): boolean {
  return value instanceof Date && isBetween(value.getTime(), moments.first, moments.last);
}

function isBetween(value: number | bigint, least: number | bigint, most: number | bigint): boolean {
  return value >= least && value <= most;
}

/** JSON in which no character is escaped by its number, as NUL and half of a surrogate pair are. */
function plainJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.includes('\\u')) throw new UnknownShape('Json with control characters');
  return text;
}
