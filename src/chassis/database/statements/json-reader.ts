import { AnyNull } from '@prisma/client/runtime/client';
import type { ArgType, SqlQueryable } from '@prisma/driver-adapter-utils';
import { getRequestContext } from '../../context/request-context.ts';
import {
  DatabaseUnavailableException,
  RequestAbandonedException,
  ServiceUnavailableException,
} from '../../errors/exceptions.ts';
import type { Filter } from '../../query/query-types.ts';
import type { MeasuredOperation } from '../client/convert-orm-errors.ts';
import type { DatabaseCounts } from '../client/orm.ts';
import type { DataField, DataModel } from '../models/data-model.ts';
import { UnknownField } from '../models/relation-link.ts';
import { StoredRecords } from '../reads/page.ts';
import { UnknownShape } from './sql-dialect.ts';
import type { StatementTarget, ValuePath } from './statement-writer.ts';
import { type ReadParameters, type ReadStatement, writeCount, writeRead } from './write-statement.ts';

/** Statements that are kept; the first kept are the first forgotten. */
const mostStatements = 500;

const spans = () => import('../../telemetry/tracing/query-span.ts');
const finalErrors = [DatabaseUnavailableException, RequestAbandonedException, ServiceUnavailableException];

type Operation = 'findMany' | 'findUnique' | 'count';

/** A statement, and how the values of a read become its arguments. */
interface Statement extends Omit<ReadStatement, 'bindings'> {
  readonly argTypes: ArgType[];
  readonly values: readonly { readonly path: ValuePath; readonly convert: Argument['convert'] }[];
}

/** What the reader works with. */
interface JsonReaderParts extends StatementTarget {
  /** The connections that the ORM uses too. */
  readonly connection: Pick<SqlQueryable, 'queryRaw'>;
  /** Measures an operation and converts its errors, as those of the ORM. */
  readonly measured: (operation: MeasuredOperation) => Promise<unknown>;
  readonly counts: DatabaseCounts | undefined;
}

/**
 * Reads records as JSON that the database makes (docs/decisions/0022). Each shape of a read is written once into a
 * statement. It gives undefined for a shape that it does not know and for values that it cannot vouch for; the ORM reads
 * then, and both are counted.
 */
export class JsonReader {
  readonly #parts: JsonReaderParts;
  readonly #statements = new Map<string, Statement | undefined>();

  constructor(parts: JsonReaderParts) {
    this.#parts = parts;
  }

  /** The records of a list. */
  findMany(model: string, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    return this.#records('findMany', model, parameters);
  }

  /** The record that a filter by an identifier finds, or none. */
  findUnique(model: string, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    return this.#records('findUnique', model, parameters);
  }

  /** How many records match. */
  async count(model: string, where: Filter | undefined): Promise<number | undefined> {
    const parameters = where ? { where } : {};
    const rows = await this.#run('count', model, parameters, this.#statement('count', model, parameters));
    return rows && Number(rows[0]?.[0]);
  }

  async #records(operation: Operation, model: string, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    const statement = this.#statement(operation, model, parameters);
    const rows = await this.#run(operation, model, parameters, statement);
    if (!rows || !statement) return undefined;
    const texts = rows.map(([text]) => text as string);
    return new StoredRecords(statement.rewrite ? texts.map(rewritten) : texts, statement.kinds);
  }

  #statement(operation: Operation, model: string, parameters: ReadParameters): Statement | undefined {
    const key = `${operation} ${model} ${shapeKey(parameters)}`;
    if (this.#statements.has(key)) return this.#statements.get(key);
    const write = operation === 'count' ? writeCount : writeRead;
    const statement = ifKnown(() => withArguments(write(this.#parts, model, parameters), this.#parts.dataModel));
    if (this.#statements.size >= mostStatements)
      this.#statements.delete(this.#statements.keys().next().value as string);
    this.#statements.set(key, statement);
    return statement;
  }

  /** The rows that a statement gives; undefined where the ORM is to read. */
  async #run(
    operation: Operation,
    model: string,
    parameters: ReadParameters,
    statement: Statement | undefined,
  ): Promise<unknown[][] | undefined> {
    const { connection, measured, counts, provider } = this.#parts;
    const args = statement && ifKnown(() => argumentsOf(statement, parameters));
    if (!statement || !args) {
      counts?.leftToOrm('shape');
      return undefined;
    }
    const { sql, argTypes } = statement;
    const query = async () => (await connection.queryRaw({ sql, args, argTypes })).rows;
    // Only a request whose trace is recorded loads what makes spans.
    const traced = async () => (await spans()).inQuerySpan({ provider, model, operation, sql }, query);
    try {
      const run = getRequestContext()?.sampled ? traced : query;
      return (await measured({ model, operation, args: parameters, query: run })) as unknown[][];
    } catch (error) {
      if (isFinal(error)) throw error;
      counts?.leftToOrm('failed');
      return undefined;
    }
  }
}

/** The ORM would meet the same. */
function isFinal(error: unknown): boolean {
  return finalErrors.some((Final) => error instanceof Final);
}

function withArguments({ bindings, ...statement }: ReadStatement, dataModel: DataModel): Statement {
  const values = bindings.map(({ path, field }) => ({ path, ...argumentOf(field, dataModel) }));
  return { ...statement, argTypes: values.map(({ argType }) => argType), values };
}

function argumentsOf({ values }: Statement, parameters: ReadParameters): unknown[] {
  return values.map(({ path, convert }) => convert(path.reduce<unknown>(stepInto, parameters)));
}

function stepInto(value: unknown, step: string | number): unknown {
  return (value as Record<string | number, unknown>)[step];
}

function ifKnown<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof UnknownField) return undefined;
    throw error;
  }
}

/** JSON as JavaScript writes it. */
function rewritten(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

/**
 * The text that stands for all queries of one shape: two have the same if they differ in compared values and numbers
 * only. Names carry their length, so that no name that a client chose can be taken for the structure around it.
 */
function shapeKey(value: unknown, literal = true): string {
  if (value === true) return 't';
  if (value === false) return 'f';
  if (value === null) return 'n';
  if (typeof value === 'string') return literal ? `${value.length}:${value}` : '?';
  if (typeof value !== 'object' || value instanceof Date) return value === undefined ? 'u' : '?';
  if (value === AnyNull) return 'a';
  let key = '';
  if (Array.isArray(value)) {
    for (const item of value) key += shapeKey(item, literal);
    return `[${key}]`;
  }
  for (const name in value) {
    const inner = literal ? name !== 'where' : name === 'mode';
    key += `${name.length}:${name}${shapeKey((value as Record<string, unknown>)[name], inner)}`;
  }
  return `{${key}}`;
}

/** How the values of a type are given to the driver. */
interface Argument {
  readonly argType: ArgType;
  /** @throws UnknownShape for a value of another type */
  readonly convert: (value: unknown) => unknown;
}

const argumentsByType: Record<string, Argument> = {
  String: taking('string', ['string']),
  Int: taking('int', ['number']),
  BigInt: taking('bigint', ['bigint', 'number'], String),
  Float: taking('float', ['number']),
  Decimal: taking('decimal', ['string']),
  Boolean: taking('boolean', ['boolean']),
  DateTime: taking('datetime', ['object'], asDate),
  Json: { argType: { scalarType: 'json', arity: 'scalar' }, convert: (value) => JSON.stringify(value) },
};

function argumentOf({ type, native, list }: DataField, { enums }: DataModel): Argument {
  const labels = enums[type];
  if (labels) return taking('enum', ['string'], (value) => labelOf(labels, value as string));
  const known = Object.hasOwn(argumentsByType, type) && !list ? argumentsByType[type] : undefined;
  if (!known) throw new UnknownShape(`values of ${type}`);
  return native === 'Date' ? { ...known, argType: { ...known.argType, dbType: 'DATE' } } : known;
}

/** Takes values of some types of JavaScript, and none else. */
function taking(
  scalarType: ArgType['scalarType'],
  types: readonly string[],
  change = (value: unknown): unknown => value,
): Argument {
  const convert = (value: unknown) => {
    if (types.includes(typeof value)) return change(value);
    throw new UnknownShape(`a value that is no ${types.join(' or ')}`);
  };
  return { argType: { scalarType, arity: 'scalar' }, convert };
}

function labelOf(labels: Readonly<Record<string, string>>, value: string): string {
  if (Object.hasOwn(labels, value)) return labels[value] as string;
  throw new UnknownShape('a value that the enum does not have');
}

function asDate(value: unknown): Date {
  if (value instanceof Date) return value;
  throw new UnknownShape('a value that is no Date');
}
