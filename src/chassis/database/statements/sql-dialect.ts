import type { DatabaseProvider } from '../client/database-url.ts';
import type { DataField } from '../models/data-model.ts';
import { UnknownField } from '../models/relation-link.ts';

/** Raised inside the reader for what it does not know; the ORM answers then. */
export class UnknownShape extends UnknownField {
  override readonly name = 'UnknownShape';
}

/** How a stored value becomes JSON, and what is left to do with it in the program. */
export interface JsonColumn {
  readonly sql: string;
  /** Values that JSON cannot hold, by the type that the ORM gives them. */
  readonly kind?: 'date' | 'bigint' | 'decimal';
  /** Whether the database writes such values differently from JavaScript, so that they are rewritten here. */
  readonly rewrite?: true;
}

/** What the two databases say differently. */
export interface SqlDialect {
  quote(name: string): string;
  placeholder(place: number): string;
  table(schema: string, name: string): string;
  /** A query of one column `j`, an object for each row of `from`. */
  objects(fields: readonly (readonly [name: string, sql: string])[], from: string): string;
  /** The object that a query gives, or null. */
  one(query: string): string;
  /** The list of all objects that a query gives, in its order. */
  list(query: string): string;
  /** The texts of all objects that a query gives. */
  texts(query: string): string;
  /** A field's value as it stands in JSON. @throws UnknownShape for types of which it is not certain */
  json(column: string, field: DataField, stored: readonly (readonly [name: string, label: string])[]): JsonColumn;
  /**
   * The rows of a query of one column and one row at most, once for each of many values: null where it gives none. Undefined
   * for types of which it is not certain, and where the database has no use for it.
   *
   * @param query what it is with names for its values
   */
  forEach(fields: readonly DataField[], query: (names: readonly string[]) => string): string | undefined;
  /** One order key; `nulls` says that null comes last. */
  order(column: string, direction: string, nulls: boolean): string;
  /** The first records of a sorted query, to read a page of them by a plan that is kept. */
  window(sorted: string, size: number, alias: string): string;
  /**
   * The records of a source that meet a condition, all of which are found before they are sorted. Undefined where the database
   * does so by itself.
   */
  foundFirst?(source: string, condition: string, alias: string): string;
  /**
   * The join of records to the keys of a page, in the order of those; its condition follows. Undefined where the database sorts
   * few columns of each record by itself: SQLite would hold the page's columns of all records up to its end in memory.
   */
  inOrderOf?(keys: string, records: string): string;
  /** A comparison with a part of a text; `insensitive` is PostgreSQL's alone. */
  like(column: string, pattern: string, insensitive: boolean): string;
  /** The JSON at a path, or without one the whole column. */
  jsonAt(column: string, path: string | readonly string[] | undefined): string;
}

const moment = (format: string) => (column: string) =>
  `CASE WHEN ${column} >= '0001-01-01' AND ${column} < '10000-01-01' THEN to_char(${column}, '${format}') ELSE (${column}::text || ' is out of range')::int::text END`;
const inMilliseconds = moment('YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
const plain = (sql: string): JsonColumn => ({ sql });

/** By Prisma's type and PostgreSQL's, where the models name one. */
const postgresColumns: Record<string, (column: string) => JsonColumn> = {
  ...same(plain, 'String', 'String Text', 'String VarChar', 'String Char', 'String Uuid', 'String Citext'),
  ...same(plain, 'Int', 'Int Integer', 'Int SmallInt', 'Boolean', 'Boolean Boolean'),
  ...same((c) => ({ sql: `${c}::text`, kind: 'bigint' }), 'BigInt', 'BigInt BigInt'),
  ...same((c) => ({ sql: `trim_scale(${c})::text`, kind: 'decimal' }), 'Decimal', 'Decimal Decimal'),
  ...same((c) => ({ sql: inMilliseconds(c), kind: 'date' }), 'DateTime', 'DateTime Timestamp', 'DateTime Timestamptz'),
  'DateTime Date': (c) => ({ sql: moment('YYYY-MM-DD"T00:00:00.000Z"')(c), kind: 'date' }),
  ...same(
    (c) => ({ sql: `CASE WHEN ${c} < 'Infinity' AND ${c} > '-Infinity' THEN ${c} END`, rewrite: true }),
    'Float',
    'Float DoublePrecision',
  ),
  ...same((c) => ({ sql: c, rewrite: true }), 'Json', 'Json JsonB', 'Json Json'),
};

/** Types of values as which a list of them is compared with a column as one alone would be. */
const listedTypes: Record<string, string> = {
  ...alike('text', 'String', 'String Text', 'String VarChar'),
  ...alike('uuid', 'String Uuid'),
  ...alike('integer', 'Int', 'Int Integer', 'Int SmallInt'),
  ...alike('bigint', 'BigInt', 'BigInt BigInt'),
  ...alike('boolean', 'Boolean', 'Boolean Boolean'),
};

function alike(type: string, ...types: string[]): Record<string, string> {
  return Object.fromEntries(types.map((name) => [name, type]));
}

/** A value that is not stored as the ORM stores it raises an error, upon which the ORM reads. */
const odd = (column: string) => `json('not as the ORM stores it: ' || ${column})`;
const utc = '????-??-??T??:??:??.???+00:00';
const ofType = (type: string) => (column: string) =>
  plain(`CASE typeof(${column}) WHEN '${type}' THEN ${column} ELSE ${odd(column)} END`);

const sqliteColumns: Record<string, (column: string) => JsonColumn> = {
  String: ofType('text'),
  Int: ofType('integer'),
  Boolean: (c) => plain(`CASE ${c} WHEN 1 THEN json('true') WHEN 0 THEN json('false') ELSE ${odd(c)} END`),
  BigInt: (c) => ({
    sql: `CASE typeof(${c}) WHEN 'integer' THEN CAST(${c} AS TEXT) ELSE ${odd(c)} END`,
    kind: 'bigint',
  }),
  DateTime: (c) => ({
    sql: `CASE WHEN ${c} GLOB '${utc}' THEN substr(${c}, 1, 23) || 'Z' ELSE ${odd(c)} END`,
    kind: 'date',
  }),
  Json: (c) => ({ sql: `json(${c})`, rewrite: true }),
};

function same(column: (sql: string) => JsonColumn, ...types: string[]): Record<string, (sql: string) => JsonColumn> {
  return Object.fromEntries(types.map((type) => [type, column]));
}

function columnJson(
  columns: Record<string, (column: string) => JsonColumn>,
  type: string,
  column: string,
  stored: readonly (readonly [string, string])[],
): JsonColumn {
  if (stored.some(([name, label]) => name !== label)) {
    const cases = stored.map(([name, label]) => `WHEN ${text(label)} THEN ${text(name)}`);
    return plain(`CASE ${column} ${cases.join(' ')} END`);
  }
  if (stored.length > 0) return plain(column);
  if (Object.hasOwn(columns, type)) return (columns[type] as (column: string) => JsonColumn)(column);
  throw new UnknownShape(`type ${type}`);
}

const postgresql: SqlDialect = {
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  placeholder: (place) => `$${place}`,
  table: (schema, name) => `${postgresql.quote(schema)}.${postgresql.quote(name)}`,
  objects: (fields, from) =>
    `SELECT row_to_json(o) AS j FROM (SELECT ${fields.map(([name, sql]) => `${sql} AS ${postgresql.quote(name)}`).join(', ')} FROM ${from}) AS o`,
  one: (query) => `(${query})`,
  list: (query) => `('[' || coalesce((SELECT string_agg(j::text, ',') FROM (${query}) AS l), '') || ']')::json`,
  texts: (query) => `SELECT j::text FROM (${query}) AS t`,
  json: (column, { type, native }, stored) =>
    columnJson(postgresColumns, native ? `${type} ${native}` : type, column, stored),
  forEach: (fields, query) => {
    const types = fields.map(({ type, native }) => listedTypes[native ? `${type} ${native}` : type]);
    if (types.length === 0 || types.includes(undefined)) return undefined;
    const names = types.map((_type, index) => `v${index + 1}`);
    const lists = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
    const values = `unnest(${lists}) WITH ORDINALITY AS v(${[...names, 'place'].join(', ')})`;
    return `SELECT (${query(names.map((name) => `v.${name}`))}) FROM ${values} ORDER BY v.place`;
  },
  order: (column, direction, nulls) => `${column} ${direction}${nulls ? ' NULLS LAST' : ''}`,
  window: (sorted, size, alias) => `SELECT * FROM (${sorted} LIMIT ${size}) AS ${alias}`,
  foundFirst: (source, condition, alias) =>
    `(SELECT ${alias}.* FROM ${source} WHERE ${condition} OFFSET 0) AS ${alias}`,
  like: (column, pattern, insensitive) =>
    insensitive ? `${column} ILIKE ${pattern}` : `${column}::text LIKE ${pattern}`,
  jsonAt: (column, path) =>
    path === undefined ? `${column}::jsonb` : `(${column}#>ARRAY[${[path].flat().join(', ')}]::text[])::jsonb`,
};

/** Its statements are written like the ORM's, since the adapter adapts those to SQLite: LIKE, and the order of enums. */
const sqlite: SqlDialect = {
  quote: (name) => `\`${name.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  table: (_schema, name) => `\`main\`.${sqlite.quote(name)}`,
  objects: (fields, from) =>
    `SELECT json_object(${fields.map(([name, sql]) => `${text(name)}, ${sql}`).join(', ')}) AS j FROM ${from}`,
  one: (query) => `json((${query}))`,
  list: (query) => `json((SELECT json_group_array(json(j)) FROM (${query})))`,
  texts: (query) => query,
  json: (column, { type }, stored) => columnJson(sqliteColumns, type, column, stored),
  // Its thread makes one statement after the other, and they cost it the same together.
  forEach: () => undefined,
  order: (column, direction, nulls) =>
    `${nulls ? `CASE WHEN ${column} IS NULL THEN 1 ELSE 0 END, ` : ''}${column} ${direction}`,
  // Its plans do not depend on values.
  window: (sorted) => sorted,
  // The left side of a CROSS JOIN is always read first.
  inOrderOf: (keys, records) => `${keys} CROSS JOIN ${records}`,
  like: (column, pattern, insensitive) => {
    if (insensitive) throw new UnknownShape('mode of SQLite');
    return `${column} LIKE ${pattern}`;
  },
  jsonAt: (column, path) => (path === undefined ? column : `${column}->${String(path)}`),
};

/** What each database says in its own way. */
export const dialects: Readonly<Record<DatabaseProvider, SqlDialect>> = { postgresql, sqlite };

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/**
 * What tells two states of PostgreSQL apart: the transactions whose writes a statement sees, and the server, whose numbers of
 * transactions they are. Null on a server in recovery, whose snapshots do not name the transactions that are under way, and
 * for what may show other rows where nothing was written: a view, such as one of the last hour, a foreign table, and one with
 * row-level security.
 */
function state(tables: Iterable<string>): string {
  const ids = [...tables].map((table) => `${text(table)}::regclass`);
  const shifting = `SELECT FROM pg_catalog.pg_class WHERE oid IN (${ids.join(', ')}) AND (relkind IN ('v', 'f') OR relrowsecurity)`;
  return `CASE WHEN pg_is_in_recovery() OR EXISTS (${shifting}) THEN NULL ELSE concat(pg_postmaster_start_time(), pg_current_snapshot()) END`;
}

/** PostgreSQL's count of `tables` and the state in which it counted; null in place of a count where the state is the known one. */
export function countUnlessKnown(count: string, known: string, tables: Iterable<string>): string {
  return `SELECT CASE WHEN s.state = ${known}::text THEN NULL ELSE (${count}) END, s.state FROM (SELECT ${state(tables)} AS state OFFSET 0) AS s`;
}
