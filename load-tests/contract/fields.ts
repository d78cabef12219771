import type { Schema } from './openapi.ts';

/** What kind of values a field has, as far as comparing them goes. `other` is not compared. */
export type FieldKind = 'number' | 'date' | 'bigint' | 'decimal' | 'uuid' | 'text' | 'enum' | 'boolean' | 'other';

/** A record of a list. */
export type Row = Readonly<Record<string, unknown>>;

/** The kind of the values that a schema describes. */
export function kindOf({ type, format, pattern, enum: values }: Schema): FieldKind {
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type !== 'string') return 'other';
  if (values) return 'enum';
  if (format === 'uuid') return 'uuid';
  if (format === 'date-time') return 'date';
  if (pattern?.startsWith('^-?\\d')) return pattern.includes('\\.') ? 'decimal' : 'bigint';
  return 'text';
}

/** Kinds whose order is the same on every database. */
export const plainlyOrdered: readonly FieldKind[] = ['number', 'date', 'bigint', 'uuid'];

/**
 * Compares two values of a kind: negative when the first is smaller, 0 when they are equal, undefined when only the
 * database knows, because one is null, or a text sorts by the collation of the database.
 */
export function compareValues(kind: FieldKind, one: unknown, other: unknown): number | undefined {
  if (one === other) return 0;
  if (one === null || other === null || one === undefined || other === undefined) return undefined;
  if (kind === 'number') return (one as number) - (other as number);
  if (kind === 'date') return Date.parse(String(one)) - Date.parse(String(other));
  if (kind === 'bigint') return BigInt(String(one)) < BigInt(String(other)) ? -1 : 1;
  if (kind === 'decimal') return Number(one) - Number(other) || undefined;
  if (kind === 'uuid') return String(one) < String(other) ? -1 : 1;
  return undefined;
}

/** The value at a dotted path of a record; undefined where a part of the path is missing. */
export function valueAt(row: Row, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value === null || value === undefined ? value : (value as Row)[name]), row);
}
