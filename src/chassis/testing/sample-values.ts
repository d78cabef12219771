import { randomUUID } from 'node:crypto';
import { namesIn } from '../database/models/constraints-of.ts';
import type { DeclaredField, DeclaredModels } from '../database/models/read-models.ts';

/** Of a field that holds a foreign key: its columns, and those that they refer to. */
const keys = /\bfields:\s*\[([^\]]*)\].*\breferences:\s*\[([^\]]*)\]/;

/** A reference of a model: its columns, and those of the other model that they name, in the same order. */
export interface DeclaredReference {
  readonly model: string;
  readonly own: readonly string[];
  readonly referred: readonly string[];
}

/** The reference that a field is; undefined for any other field. */
export function referenceOf({ type, attributes }: DeclaredField): DeclaredReference | undefined {
  const [own, referred] = (keys.exec(attributes) ?? []).slice(1).map(namesIn);
  return own && referred && { model: type, own, referred };
}

/** The fields that a record has to be given a value of. */
export function requiredFields(fields: readonly DeclaredField[]): DeclaredField[] {
  return fields.filter(
    ({ list, optional, attributes }) => !list && !optional && !/@default|@updatedAt/.test(attributes),
  );
}

let made = 0;

/**
 * A value that no other record has, where the type has enough of them.
 *
 * @param number of the record among its kind: enums, booleans and dates go by it. Default: 0, the first value, false, now
 */
export function sampleOf({ name, type, attributes }: DeclaredField, { enums }: DeclaredModels, number = 0): unknown {
  if (attributes.includes('@db.Uuid')) return randomUUID();
  made += 1;
  const longest = Number(/@db\.(?:Var)?Char\((\d+)\)/.exec(attributes)?.[1] ?? 200);
  const values: Record<string, () => unknown> = {
    String: () => `${name} ${randomUUID()}`.slice(-longest),
    Boolean: () => number % 2 === 1,
    DateTime: () => new Date(Date.now() - 60_000 * number),
    BigInt: () => BigInt(made),
    Json: () => ({}),
    Bytes: () => Buffer.from(`${made}`),
  };
  const choices = enums.get(type);
  return choices?.[number % choices.length]?.name ?? values[type]?.() ?? made;
}
