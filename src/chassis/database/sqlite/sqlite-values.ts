import { type ColumnType, ColumnTypeEnum, type SqlResultSet } from '@prisma/driver-adapter-utils';

const declared: Readonly<Record<string, ColumnType>> = {
  DECIMAL: ColumnTypeEnum.Numeric,
  FLOAT: ColumnTypeEnum.Float,
  ...named(ColumnTypeEnum.Double, 'DOUBLE', 'DOUBLE PRECISION', 'NUMERIC', 'REAL'),
  ...named(ColumnTypeEnum.Int32, 'TINYINT', 'SMALLINT', 'MEDIUMINT', 'INT', 'INTEGER', 'SERIAL', 'INT2'),
  ...named(ColumnTypeEnum.Int64, 'BIGINT', 'UNSIGNED BIG INT', 'INT8'),
  ...named(ColumnTypeEnum.DateTime, 'DATETIME', 'TIMESTAMP'),
  ...named(ColumnTypeEnum.Text, 'TEXT', 'CLOB', 'CHARACTER', 'VARCHAR', 'VARYING CHARACTER', 'NCHAR', 'NVARCHAR'),
  TIME: ColumnTypeEnum.Time,
  DATE: ColumnTypeEnum.Date,
  BLOB: ColumnTypeEnum.Bytes,
  BOOLEAN: ColumnTypeEnum.Boolean,
  JSONB: ColumnTypeEnum.Json,
};

function named(type: ColumnType, ...names: string[]): Record<string, ColumnType> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

/** The ORM's type of a column, by the type that it was declared with; undefined where only its values tell. */
export function columnTypeOf(declaration: string): ColumnType | undefined {
  return declared[declaration.toUpperCase()];
}

/** Arguments as the driver takes them. @throws NulCharacterError for a text that the driver would cut off */
export function toDriverValues(args: readonly unknown[]): unknown[] {
  return args.map((value) => {
    if (typeof value === 'string' && value.includes('\0')) throw new NulCharacterError();
    if (typeof value === 'boolean') return value ? 1n : 0n;
    if (value instanceof Uint8Array) return Buffer.from(value);
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new RangeError(`Expected a finite number, got ${value}.`);
    if (value === undefined) throw new TypeError('Expected a value for each argument of a statement, got undefined.');
    return value;
  });
}

/** Raised for a text that SQLite cannot hold; PostgreSQL refuses it by itself. */
class NulCharacterError extends Error {
  override readonly name = 'NulCharacterError';
  override readonly message = 'A text with a NUL character cannot be stored or looked for. Remove the character.';
}

/** What the driver found, as the ORM takes it; changes the rows given. Columns without a declared type get that of their first value. */
export function resultSet(
  { columnNames, columnTypes }: { columnNames: string[]; columnTypes: (ColumnType | undefined)[] },
  rows: unknown[][],
): SqlResultSet {
  const types = columnTypes.map((type, column) => type ?? typeOfValues(rows, column));
  const computed = columnTypes.map((type) => type === undefined);
  for (const row of rows) {
    for (let column = 0; column < row.length; column += 1) {
      const value = row[column];
      if (typeof value === 'string' || value === null) continue;
      row[column] = toResult(value, types[column] as ColumnType, computed[column] === true);
    }
  }
  return { columnNames, columnTypes: types, rows };
}

function typeOfValues(rows: unknown[][], column: number): ColumnType {
  const value = rows.find((row) => row[column] !== null)?.[column];
  switch (typeof value) {
    case 'string':
      return ColumnTypeEnum.Text;
    case 'bigint':
      return isSafe(value) ? ColumnTypeEnum.UnknownNumber : ColumnTypeEnum.Int64;
    case 'number':
      return ColumnTypeEnum.UnknownNumber;
    case 'object':
      return ColumnTypeEnum.Bytes;
    default:
      return ColumnTypeEnum.Int32;
  }
}

/** What a program computes in SQL of its own, such as a count, is a number where one holds it; columns keep their type. */
function toResult(value: unknown, type: ColumnType, computed: boolean): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== 'bigint' && typeof value !== 'number') return value;
  if (type === ColumnTypeEnum.DateTime) return new Date(Number(value)).toISOString();
  if (typeof value === 'bigint') return computed && isSafe(value) ? Number(value) : value.toString();
  const whole = type === ColumnTypeEnum.Int32 || type === ColumnTypeEnum.Int64;
  return whole ? Math.trunc(value) : value;
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}
