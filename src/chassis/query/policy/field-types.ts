import { z } from 'zod';

const int64Text = /^(0|-?[1-9]\d{0,18})$/;
const decimalText = /^-?\d{1,64}(\.\d{1,64})?$/;

/** A `BigInt` column: a string in JSON, in which an integer of 64 bits keeps its digits; a body may also bring a number. */
export function int64() {
  const onWire = z.union([z.string().regex(int64Text, 'Expected an integer, as a string'), z.int()]);
  const value = z
    .bigint()
    .min(-(2n ** 63n))
    .max(2n ** 63n - 1n);
  return z.codec(onWire, value, { decode: BigInt, encode: String }).meta({ format: 'int64' });
}

/** A `Decimal` column: a string in JSON, such as `"19.90"`, in which it keeps its digits; answers leave out zeros at the end, `"19.9"`. */
export function decimal() {
  return z.string().regex(decimalText, 'Expected a decimal number, as a string').meta({ format: 'decimal' });
}

/** A `DateTime` column that clients write too: ISO 8601 with a zone in JSON, a Date in the program. */
export function dateTime() {
  const onWire = z.iso.datetime({ offset: true, error: 'Expected a moment in ISO 8601, such as 2026-01-31T12:00:00Z' });
  const codec = { decode: (text: string) => new Date(text), encode: (date: Date) => date.toISOString() };
  return z.codec(onWire, z.date(), codec).meta({ format: 'date-time' });
}

/** How values of a field are read from JSON and compared; `other` can be read but neither filtered nor sorted. */
export type FieldKind =
  | 'text'
  | 'uuid'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'date'
  | 'bigint'
  | 'decimal'
  | 'enum'
  | 'json'
  | 'other';

/** What a record's zod type says about a field. */
export interface FieldRule {
  readonly name: string;
  readonly kind: FieldKind;
  readonly nullable: boolean;
  /** The allowed values of an `enum`. */
  readonly values: ReadonlySet<unknown> | undefined;
}

/**
 * Reads kind and nullability off a zod type. Where the type has one of the formats above, that counts. A type of objects
 * or lists is a Json column, and so is one with `format: 'json'`.
 */
export function fieldRule(name: string, type: z.core.$ZodType): FieldRule {
  let inner = type as z.ZodType;
  let nullable = false;
  for (;;) {
    const format = inner.meta?.()?.format;
    const kind = kindsByFormat[String(format)];
    if (kind) return { name, kind, nullable, values: undefined };
    const { def } = inner as unknown as { def: { type: string; innerType?: z.ZodType; in?: z.ZodType } };
    nullable ||= def.type === 'nullable';
    const next = def.innerType ?? (def.type === 'pipe' ? def.in : undefined);
    if (!next) return { name, nullable, ...kindOf(inner) };
    inner = next;
  }
}

const kindsByFormat: Record<string, FieldKind> = {
  decimal: 'decimal',
  int64: 'bigint',
  'date-time': 'date',
  json: 'json',
};

function kindOf(type: z.ZodType): Pick<FieldRule, 'kind' | 'values'> {
  switch (type.def.type) {
    case 'string':
      return { kind: isUuid(type) ? 'uuid' : 'text', values: undefined };
    case 'number':
      return { kind: (type as z.ZodNumber).isInt ? 'integer' : 'number', values: undefined };
    case 'boolean':
    case 'date':
    case 'bigint':
      return { kind: type.def.type, values: undefined };
    case 'enum':
      return { kind: 'enum', values: new Set((type as z.ZodEnum).options) };
    case 'literal':
      return { kind: 'enum', values: (type as z.ZodLiteral).values };
    case 'object':
    case 'record':
    case 'array':
    case 'tuple':
    case 'lazy':
      return { kind: 'json', values: undefined };
    default:
      return { kind: 'other', values: undefined };
  }
}

function isUuid(type: z.ZodType): boolean {
  const { format } = type as z.ZodStringFormat;
  return format === 'uuid' || format === 'guid';
}
