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

/** A `Decimal` column: a string in JSON, such as `"19.90"`, in which it keeps its digits. */
export function decimal() {
  return z.string().regex(decimalText, 'Expected a decimal number, as a string').meta({ format: 'decimal' });
}

/** A `DateTime` column that clients write too: ISO 8601 with a zone in JSON, a Date in the program. */
export function dateTime() {
  const onWire = z.iso.datetime({ offset: true, error: 'Expected a moment in ISO 8601, such as 2026-01-31T12:00:00Z' });
  const codec = { decode: (text: string) => new Date(text), encode: (date: Date) => date.toISOString() };
  return z.codec(onWire, z.date(), codec).meta({ format: 'date-time' });
}
