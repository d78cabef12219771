import type { FieldKind, FieldRule } from '../policy/field-types.ts';
import { type Path, Refusal, show } from './query-refusal.ts';

const dateTime = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const wholeNumber = /^-?\d{1,19}$/;
const decimalNumber = /^-?\d{1,64}(\.\d{1,64})?$/;
const maxInt64 = 2n ** 63n;

/**
 * Turns a JSON value into what the database takes for a field, or refuses it at the path.
 * UUIDs are compared without the case of their letters. Dates come as ISO 8601 (a date alone is midnight UTC), big
 * integers and decimals as a string or a number; values that are already a Date or a bigint pass, so that programs can use the same filters.
 */
export function coerceValue(field: FieldRule, value: unknown, path: Path): unknown {
  const coerced = coerce[field.kind](value, field);
  if (coerced === undefined) throw new Refusal(path, `expected ${expectation(field)}, got ${show(value)}`);
  return coerced;
}

/** Whether a value is one that the database takes for a field. */
export function isValueOf(field: FieldRule, value: unknown): boolean {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return false;
  return coerce[field.kind](value, field) !== undefined;
}

/** What values of a field look like, in words. */
export function expectation(field: FieldRule): string {
  if (field.values) return `one of ${[...field.values].map((value) => JSON.stringify(value)).join(', ')}`;
  return words[field.kind];
}

const words: Record<FieldKind, string> = {
  text: 'a string',
  uuid: 'a UUID',
  integer: 'an integer from -2147483648 to 2147483647',
  number: 'a finite number',
  boolean: 'true or false',
  date: 'a date in ISO 8601, such as "2026-01-31" or "2026-01-31T12:00:00Z",',
  bigint: 'a 64 bit integer, as a string when it is large',
  decimal: 'a decimal number, as a string to keep every digit',
  enum: 'a declared value',
  json: 'a JSON value',
  other: 'nothing: this field cannot be filtered',
};

const coerce: Record<FieldKind, (value: unknown, field: FieldRule) => unknown> = {
  text: (value) => (typeof value === 'string' ? value : undefined),
  uuid: (value) => (typeof value === 'string' && uuid.test(value) ? value.toLowerCase() : undefined),
  integer: (value) => (Number.isInteger(value) && Math.abs((value as number) + 0.5) < 2 ** 31 ? value : undefined),
  number: (value) => (Number.isFinite(value) ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  date: toDate,
  bigint: toBigInt,
  decimal: toDecimal,
  enum: (value, field) => (field.values?.has(value) ? value : undefined),
  json: (value) => value,
  other: () => undefined,
};

function toDate(value: unknown): Date | undefined {
  if (value instanceof Date) return inDatabaseRange(value) ? value : undefined;
  const parts = typeof value === 'string' ? dateTime.exec(value) : null;
  if (!parts) return undefined;
  const [text, year, month, day] = parts;
  // The engine takes the 31st of a shorter month for a day of the next one.
  if (Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()) return undefined;
  const date = new Date(text);
  return inDatabaseRange(date) ? date : undefined;
}

// PostgreSQL knows no year 0, and years of five digits are written differently; NaN fails both comparisons.
function inDatabaseRange(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

function toBigInt(value: unknown): bigint | undefined {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!isWhole && !(typeof value === 'string' && wholeNumber.test(value))) return undefined;
  const whole = BigInt(value as bigint | number | string);
  return whole >= -maxInt64 && whole < maxInt64 ? whole : undefined;
}

function toDecimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && decimalNumber.test(text) ? text : undefined;
}
