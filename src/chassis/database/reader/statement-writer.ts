import type { ArgType } from '@prisma/driver-adapter-utils';
import type { DatabaseProvider } from '../client/database-url.ts';
import type { DataField, DataModel } from '../models/data-model.ts';
import { dialects, type SqlDialect, UnknownShape } from './sql-dialect.ts';

/** Steps from the parameters of a read to one of their values. */
export type ValuePath = readonly (string | number)[];

/** An argument of a statement: where its value stands, and what becomes of it. */
export interface Binding {
  readonly path: ValuePath;
  readonly argType: ArgType;
  /** @throws UnknownShape for a value of another type */
  readonly convert: (value: unknown) => unknown;
}

/** The database that statements are written for. */
export interface StatementTarget {
  readonly provider: DatabaseProvider;
  readonly dataModel: DataModel;
  /** The schema of the tables; PostgreSQL only. */
  readonly schema: string;
}

/** Writes one statement: gives names to tables, and places to values. */
export class StatementWriter {
  readonly dialect: SqlDialect;
  readonly dataModel: DataModel;
  readonly #schema: string;
  readonly #bindings: Binding[] = [];
  #aliases = 0;

  constructor({ provider, dataModel, schema }: StatementTarget) {
    this.dialect = dialects[provider];
    this.dataModel = dataModel;
    this.#schema = schema;
  }

  alias(): string {
    this.#aliases += 1;
    return this.dialect.quote(`t${this.#aliases}`);
  }

  column(alias: string, name: string): string {
    return `${alias}.${this.dialect.quote(name)}`;
  }

  /** A model's table under a name. */
  from(model: string, alias: string): string {
    return `${this.table(this.dataModel.models[model]?.table ?? model)} AS ${alias}`;
  }

  table(name: string): string {
    return this.dialect.table(this.#schema, name);
  }

  /** The equality of columns of two tables. */
  equal(left: string, columns: readonly string[], right: string, others: readonly string[]): string {
    return columns
      .map((name, index) => `${this.column(left, name)} = ${this.column(right, others[index] as string)}`)
      .join(' AND ');
  }

  /** The place of the value at a path, which takes the type of a field. */
  value(path: ValuePath, field: DataField): string {
    this.#bindings.push({ path, ...argumentOf(field, this.dataModel) });
    return `\0${this.#bindings.length - 1}\0`;
  }

  /** The place of a value of a type that no field has, such as a number of records. */
  plain(path: ValuePath, type: 'String' | 'BigInt'): string {
    return this.value(path, { type, list: false, column: '' });
  }

  /** The statement, and its arguments in the order of their places. */
  finish(draft: string): { sql: string; bindings: Binding[] } {
    const bindings: Binding[] = [];
    const sql = draft.replace(placeMarks, (_mark, index) => {
      bindings.push(this.#bindings[Number(index)] as Binding);
      return this.dialect.placeholder(bindings.length);
    });
    return { sql, bindings };
  }
}

const placeMarks = /\0(\d+)\0/g;

type Argument = Pick<Binding, 'argType' | 'convert'>;

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
