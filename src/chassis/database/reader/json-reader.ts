import { AnyNull } from '@prisma/client/runtime/client';
import type { SqlQueryable } from '@prisma/driver-adapter-utils';
import { getRequestContext } from '../../context/request-context.ts';
import {
  DatabaseUnavailableException,
  RequestAbandonedException,
  ServiceUnavailableException,
} from '../../errors/exceptions.ts';
import type { Filter, Selection } from '../../query/query-types.ts';
import type { MeasuredOperation } from '../client/convert-orm-errors.ts';
import type { DatabaseCounts } from '../client/orm.ts';
import { UnknownField } from '../models/relation-link.ts';
import { StoredRecords } from '../reads/stored-records.ts';
import type { StatementTarget } from './statement-writer.ts';
import { type ReadParameters, type ReadStatement, writeCount, writeRead } from './write-statement.ts';

/** Statements that are kept; the first kept are the first forgotten. */
const mostStatements = 500;

const spans = () => import('../../telemetry/tracing/query-span.ts');
const finalErrors = [DatabaseUnavailableException, RequestAbandonedException, ServiceUnavailableException];

type Operation = 'findMany' | 'findUnique' | 'count';

/** What the reader works with. */
export interface JsonReaderParts extends StatementTarget {
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
  readonly #statements = new Map<string, ReadStatement | undefined>();

  constructor(parts: JsonReaderParts) {
    this.#parts = parts;
  }

  /** The records of a list. */
  findMany(model: string, parameters: ReadParameters): Promise<StoredRecords | undefined> {
    return this.#records('findMany', model, parameters);
  }

  /** The record of an identifier, or none. */
  findUnique(model: string, id: unknown, select: Selection): Promise<StoredRecords | undefined> {
    return this.#records('findUnique', model, { where: { id }, select });
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

  #statement(operation: Operation, model: string, parameters: ReadParameters): ReadStatement | undefined {
    const key = `${operation} ${model} ${shapeKey(parameters)}`;
    if (this.#statements.has(key)) return this.#statements.get(key);
    const write = operation === 'count' ? writeCount : writeRead;
    const statement = ifKnown(() => write(this.#parts, model, parameters));
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
    statement: ReadStatement | undefined,
  ): Promise<unknown[][] | undefined> {
    const { connection, measured, counts, provider } = this.#parts;
    const args = statement && ifKnown(() => argumentsOf(statement, parameters));
    if (!statement || !args) {
      counts?.leftToOrm('shape');
      return undefined;
    }
    const { sql, bindings } = statement;
    const argTypes = bindings.map(({ argType }) => argType);
    const query = async () => (await connection.queryRaw({ sql, args, argTypes })).rows;
    // Only a request whose trace is recorded loads what makes spans.
    const traced = async () => (await spans()).inQuerySpan({ provider, model, operation, sql }, query);
    try {
      const run = getRequestContext()?.sampled ? traced : query;
      return (await measured({ model, operation, args: undefined, query: run })) as unknown[][];
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

function argumentsOf({ bindings }: ReadStatement, parameters: ReadParameters): unknown[] {
  return bindings.map(({ path, convert }) => convert(path.reduce<unknown>(stepInto, parameters)));
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
