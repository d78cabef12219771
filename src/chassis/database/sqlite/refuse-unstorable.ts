import type { DataField, DataModel, NumberBounds } from '../models/data-model.ts';

/** Raised for a value that SQLite would take and PostgreSQL refuses. */
class ColumnValueError extends Error {
  override readonly name = 'ColumnValueError';
}

/** The parts of a query that carry values of columns. */
const carrying = ['data', 'create', 'update', 'where'] as const;
const decimalParts = /^-?0*(?!0)(\d*)(?:\.(\d*))?$/;

/**
 * Refuses what PostgreSQL refuses and SQLite, whose columns have no bounds, would take: numbers beyond `@db.SmallInt` and
 * `@db.Decimal(p, s)`, and Json with a NUL character or half a surrogate pair. So a service answers alike on both.
 *
 * @throws ColumnValueError which becomes a 400
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

function checkValues({ stores }: Check, name: string, { type, holds }: DataField, value: unknown): void {
  if (type === 'Json' && stores && !isStorableJson(value)) throw refusal(name, 'Json without NUL and half characters');
  if (!holds || (!stores && 'whole' in holds)) return;
  const all = isPlain(value) ? Object.values(value).flat() : [value].flat();
  for (const one of all) if (!isHeld(holds, one)) throw refusal(name, JSON.stringify(holds));
}

function isHeld(bounds: NumberBounds, value: unknown): boolean {
  if ('least' in bounds) return typeof value !== 'number' || (value >= bounds.least && value <= bounds.most);
  const [, whole = '', fraction = ''] = decimalParts.exec(String(value)) ?? [];
  // PostgreSQL rounds first, and nines become one digit more.
  const nines = whole.length === bounds.whole && /^9*$/.test(whole + fraction.slice(0, bounds.fraction));
  return whole.length <= bounds.whole && !(nines && Number(fraction[bounds.fraction] ?? 0) >= 5);
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
