import type { ArgType, SqlQuery } from '@prisma/driver-adapter-utils';
import type { DataModel } from '../models/data-model.ts';

/** A statement with its arguments as SQLite stores such values; markers of `toProviderFilter` are in the arguments. */
export interface SqliteStatement {
  readonly sql: string;
  readonly args: readonly unknown[];
}

/** Significant digits that SQLite keeps of a decimal number: it holds them as a binary floating point number. */
const decimalDigits = 15;

/** Raised for a decimal that SQLite would round; PostgreSQL holds it. */
class LongDecimalError extends Error {
  override readonly name = 'LongDecimalError';
  override readonly message =
    `A decimal of more than ${decimalDigits} digits cannot be stored or looked for in SQLite.`;
}

/**
 * Makes queries mean on SQLite what they mean on PostgreSQL: enums sort in declared order, records without a related one
 * sort last, JSON is equal whatever the order of its keys, and a decimal that SQLite would round is refused.
 */
export class SqliteQueries {
  readonly #enums: ReadonlyMap<string, readonly string[]>;
  readonly #rewritten = new Map<string, string>();
  #rewrittenChars = 0;

  constructor(dataModel: DataModel) {
    const columns = Object.values(dataModel.models).flatMap(({ table, fields }) =>
      Object.values(fields).flatMap(({ type, column }) => {
        const values = dataModel.enums[type];
        return values ? [[`${table}.${column}`, Object.values(values)] as const] : [];
      }),
    );
    this.#enums = new Map(columns);
  }

  /** The query as SQLite has to get it. */
  prepare({ sql, args, argTypes }: SqlQuery): SqliteStatement {
    const stored = args.map((arg, index) => toStored(storable(arg, argTypes[index]?.scalarType), argTypes[index]));
    return { sql: this.#inOrder(sql), args: stored };
  }

  #inOrder(sql: string): string {
    if (!sql.includes(' ORDER BY ')) return sql;
    const known = this.#rewritten.get(sql);
    if (known !== undefined) return known;
    const rewritten = this.#rewrite(sql);
    // Bounded, because lists in filters make the number of different statements unbounded.
    if (this.#rewritten.size >= 500 || this.#rewrittenChars > mostRewrittenChars) {
      this.#rewritten.clear();
      this.#rewrittenChars = 0;
    }
    this.#rewritten.set(sql, rewritten);
    this.#rewrittenChars += sql.length + rewritten.length;
    return rewritten;
  }

  #rewrite(sql: string): string {
    const aliases = new Map([...sql.matchAll(aliasOfTable)].map(([, table = '', alias = '']) => [alias, table]));
    return sql.replace(sortedColumn, (_term, column: string, table: string, name: string, direction: string) => {
      const values = this.#enums.get(`${aliases.get(table) ?? table}.${name}`);
      const places = values?.map((value, place) => `WHEN ${text(value)} THEN ${place}`).join(' ');
      // The ORM says where missing values go of nullable columns only, not of those of a record that may be missing.
      const order =
        table.startsWith('orderby_') && !direction.includes('NULLS') ? `${direction} NULLS LAST` : direction;
      return `${places ? `CASE ${column} ${places} END` : column} ${order}`;
    });
  }
}

/** Characters of the statements that are kept with what became of them. */
const mostRewrittenChars = 2_000_000;

const aliasOfTable = /`main`\.`([^`]+)` AS `([^`]+)`/g;
const sortedColumn = /((?:`main`\.)?`([^`]+)`\.`([^`]+)`) ((?:ASC|DESC)\b(?: NULLS (?:FIRST|LAST))?)/g;

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function storable(arg: unknown, type: string | undefined): unknown {
  if (typeof arg !== 'string') return arg;
  if (type === 'json') return canonicalJson(arg);
  if (type === 'decimal' && significantDigits(arg) > decimalDigits) throw new LongDecimalError();
  return arg;
}

function significantDigits(decimal: string): number {
  const [digits = ''] = decimal.split(/e/i);
  return digits.replace(/[-+.]/g, '').replace(/^0+|0+$/g, '').length;
}

/** JSON with the keys of every object in order, since SQLite compares it as text. */
function canonicalJson(json: string): string {
  const sorted = (_key: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
      : value;
  return JSON.stringify(JSON.parse(json), sorted);
}

/** An argument as SQLite stores such values: moments as ISO 8601 in UTC, decimals as numbers, bytes as bytes. */
function toStored(arg: unknown, type: ArgType | undefined): unknown {
  if (arg instanceof Date) return moment(arg);
  if (typeof arg !== 'string') return arg;
  switch (type?.scalarType) {
    case 'bigint':
      return BigInt(arg);
    case 'decimal':
      return Number.parseFloat(arg);
    case 'datetime':
      return moment(new Date(arg));
    case 'bytes':
      return new Uint8Array(Buffer.from(arg, 'base64'));
    default:
      return arg;
  }
}

function moment(date: Date): string {
  return date.toISOString().replace('Z', '+00:00');
}
