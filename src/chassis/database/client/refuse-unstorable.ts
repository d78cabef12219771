import { ValidationException } from '../../errors/exceptions.ts';
import type { DataField, DataModel, NumberBounds } from '../models/data-model.ts';
import { isPlain } from '../reads/provider-filter.ts';

/** Raised for a value that one database would take and the other refuse, other than a number to be stored. */
class ColumnValueError extends Error {
  override readonly name = 'ColumnValueError';
}

/** The parts of a query that carry values of columns. */
const carrying = ['data', 'create', 'update', 'where'] as const;
const decimalText = /^[+-]?(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;
/** How PostgreSQL and both clients write a UUID. */
export const uuidText = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** From 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z. */
export const moments = { first: -62_135_596_800_000, last: 253_402_300_799_999 };
const bigIntText = /^-?\d{1,30}$/;
/** What a column holds of which the models say no more. */
const ofType: Record<string, NumberBounds> = {
  Int: { least: -2_147_483_648, most: 2_147_483_647 },
  BigInt: { least: -(2n ** 63n), most: 2n ** 63n - 1n },
  Decimal: { whole: 35, fraction: 30 },
  Float: 'finite',
};

/**
 * Refuses what a column cannot hold as it was sent, whether it is stored or compared, in the same words on both databases:
 * SQLite's columns have no bounds, PostgreSQL rounds digits behind the point away, and the ORM cuts `1.5` to 1 for a
 * comparison. Concerns numbers of every type, however they are written (`1e21`), moments, UUIDs, and Json with a NUL
 * character or half a surrogate pair. Zeros at the end of a decimal are no digits too many.
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
  /** Whether the values are stored, or compared. */
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

function checkValues({ stores }: Check, name: string, field: DataField, value: unknown): void {
  const { type, list, holds, native } = field;
  if (type === 'Json' && !isStorableJson(value)) throw refusal(name, 'Json without NUL and half characters');
  const all = isPlain(value) ? Object.values(value).flat() : [value].flat();
  if (native === 'Uuid' && !all.every(isUuid)) throw refusal(name, 'a UUID');
  if (!all.every(isMoment)) throw refusal(name, 'a moment of the years 1 to 9999');
  const bounds = stores ? (holds ?? ofType[type]) : comparedBounds(field);
  if (!bounds || all.every((one) => isHeld(bounds, one))) return;
  if (!stores || list) throw refusal(name, expectedOf(bounds));
  throw new ValidationException({ [name]: [`Expected ${expectedOf(bounds)}`] });
}

/** What a field may be compared with: of a Decimal more digits than its column holds. */
export function comparedBounds({ type, holds }: DataField): NumberBounds | undefined {
  return type === 'Decimal' ? ofType[type] : (holds ?? ofType[type]);
}

/** SQLite compares texts, so none but PostgreSQL would say that one is no UUID. */
function isUuid(value: unknown): boolean {
  return typeof value !== 'string' || uuidText.test(value);
}

/** Earlier moments PostgreSQL writes otherwise, and later ones SQLite sorts before all others. */
function isMoment(value: unknown): boolean {
  return !(value instanceof Date) || (value.getTime() >= moments.first && value.getTime() <= moments.last);
}

/** Of values of other types, and of no value, the ORM says what is wrong. */
function isHeld(bounds: NumberBounds, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (bounds === 'finite') return typeof value !== 'number' || Number.isFinite(value);
  if (!isRange(bounds)) return isDecimalOf(bounds, String(value));
  // The ORM takes the text of a BigInt too.
  if (typeof value === 'string' && typeof bounds.least === 'bigint') {
    return bigIntText.test(value) && isHeld(bounds, BigInt(value));
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') return true;
  return value >= bounds.least && value <= bounds.most && (typeof value === 'bigint' || Number.isInteger(value));
}

/** Counts digits where the exponent puts the point, and never writes them out: `1e999999999` is nine letters. */
function isDecimalOf({ whole, fraction }: { whole: number; fraction: number }, text: string): boolean {
  const [, before = '', behind = '', exponent = '0'] = decimalText.exec(text) ?? [];
  if (before === '' && behind === '') return false;
  const point = before.length + Number(exponent);
  const digits = before + behind;
  const first = digits.search(/[1-9]/);
  if (first === -1) return true;
  let last = digits.length;
  while (digits[last - 1] === '0') last -= 1;
  return point - first <= whole && last - point <= fraction;
}

function isRange(bounds: NumberBounds): bounds is Extract<NumberBounds, { least: unknown }> {
  return typeof bounds === 'object' && 'least' in bounds;
}

function expectedOf(bounds: NumberBounds): string {
  if (bounds === 'finite') return 'a finite number';
  if (isRange(bounds)) return `an integer from ${bounds.least} to ${bounds.most}`;
  return `a decimal with at most ${bounds.whole} digits before the point and ${bounds.fraction} behind it`;
}

function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (Array.isArray(value)) return value.every(isStorableJson);
  if (!isPlain(value)) return true;
  return Object.entries(value).every(([key, item]) => isStorableJson(key) && isStorableJson(item));
}

function refusal(name: string, expected: string): ColumnValueError {
  return new ColumnValueError(`The field ${name} takes a value that both databases hold (${expected}).`);
}
