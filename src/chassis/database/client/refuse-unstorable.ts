import { ValidationException } from '../../errors/exceptions.ts';
import type { DataField, DataModel, NumberBounds } from '../models/data-model.ts';

/** Raised for a value that SQLite would take and PostgreSQL refuses, other than a number to be stored. */
class ColumnValueError extends Error {
  override readonly name = 'ColumnValueError';
}

/** The parts of a query that carry values of columns. */
const carrying = ['data', 'create', 'update', 'where'] as const;
const decimalParts = /^-?0*(?!0)(\d*)(?:\.(\d*?)0*)?$/;
const int32: NumberBounds = { least: -2_147_483_648, most: 2_147_483_647 };

/**
 * Refuses what a column cannot hold as it was sent, in the same words on both databases: SQLite's columns have no bounds,
 * and PostgreSQL rounds digits behind the point away. Concerns Int, `@db.SmallInt` and `@db.Decimal(p, s)`, and Json with
 * a NUL character or half a surrogate pair. Zeros at the end of a decimal are no digits too many.
 *
 * @throws ValidationException that names the field of a number to be stored; ColumnValueError, which becomes a 400
 */
export function refuseUnstorable(dataModel: DataModel, model: string | undefined, args: unknown): void {
  if (model === undefined) return;
  for (const part of carrying) {
    const values = (args as Record<string, unknown> | undefined)?.[part];
    if (values !== undefined) checkPart({ dataModel, stores: part !== 'where' }, model, values);
  }
}

interface Check {
  readonly dataModel: DataModel;
  /** Whether the values are stored; a comparison with a Decimal or Json may say more than a column holds. */
  readonly stores: boolean;
}

function checkPart(check: Check, model: string, part: unknown): void {
  if (Array.isArray(part)) for (const item of part) checkPart(check, model, item);
  else if (isPlain(part)) for (const [name, value] of Object.entries(part)) checkMember(check, model, name, value);
}

/** A member is a field, or a word such as AND, connect and some, behind which the same model goes on. */
function checkMember(check: Check, model: string, name: string, value: unknown): void {
  const fields = check.dataModel.models[model]?.fields;
  const field = fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) checkPart(check, model, value);
  else if (field.type in check.dataModel.models) checkPart(check, field.type, value);
  else checkValues(check, name, field, value);
}

function checkValues({ stores }: Check, name: string, { type, list, holds }: DataField, value: unknown): void {
  if (type === 'Json' && stores && !isStorableJson(value)) throw refusal(name, 'Json without NUL and half characters');
  const bounds = holds ?? (type === 'Int' && stores ? int32 : undefined);
  if (!bounds || (!stores && 'whole' in bounds)) return;
  const all = isPlain(value) ? Object.values(value).flat() : [value].flat();
  if (all.every((one) => isHeld(bounds, one))) return;
  if (!stores || list) throw refusal(name, expectedOf(bounds));
  throw new ValidationException({ [name]: [`Expected ${expectedOf(bounds)}`] });
}

function isHeld(bounds: NumberBounds, value: unknown): boolean {
  if ('least' in bounds) return typeof value !== 'number' || (value >= bounds.least && value <= bounds.most);
  const [, whole = '', fraction = ''] = decimalParts.exec(String(value)) ?? [];
  return whole.length <= bounds.whole && fraction.length <= bounds.fraction;
}

function expectedOf(bounds: NumberBounds): string {
  if ('least' in bounds) return `an integer from ${bounds.least} to ${bounds.most}`;
  return `a decimal with at most ${bounds.whole} digits before the point and ${bounds.fraction} behind it`;
}

function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (Array.isArray(value)) return value.every(isStorableJson);
  if (!isPlain(value)) return true;
  return Object.entries(value).every(([key, item]) => isStorableJson(key) && isStorableJson(item));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function refusal(name: string, expected: string): ColumnValueError {
  return new ColumnValueError(`The field ${name} takes a value that PostgreSQL could hold (${expected}).`);
}
