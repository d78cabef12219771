import type { ArgType } from '@prisma/driver-adapter-utils';
import { comparedBounds, moments, uuidText } from '../client/refuse-unstorable.ts';
import type { DataField, DataModel } from '../models/data-model.ts';
import { UnknownField } from '../models/relation-link.ts';
import { UnknownShape } from './sql-dialect.ts';
import type { Binding, ValuePath } from './statement-writer.ts';

/** How the values of a field are given to the driver. */
interface Argument {
  readonly argType: ArgType;
  /** @throws UnknownShape for a value of another type, or one that `refuseUnstorable` would have to look at */
  readonly convert: (value: unknown) => unknown;
}

const argumentsByType: Record<string, (field: DataField) => Argument> = {
  String: ({ native }) => taking('string', (value) => isText(value) && (native !== 'Uuid' || uuidText.test(value))),
  Int: (field) => taking('int', within(field)),
  BigInt: (field) => taking('bigint', within(field), String),
  Float: () => taking('float', Number.isFinite),
  Decimal: () => taking('decimal', (value) => isText(value) && plainDecimal.test(value)),
  Boolean: () => taking('boolean', (value) => typeof value === 'boolean'),
  DateTime: () => taking('datetime', isMoment),
  Json: () => ({ argType: { scalarType: 'json', arity: 'scalar' }, convert: plainJson }),
};

const plainDecimal = /^-?\d{1,30}(\.\d{1,30})?$/;

/** How values that are compared with a field become arguments. @throws UnknownShape for a field of which it is not certain */
function argumentOf(field: DataField, { enums }: DataModel): Argument {
  const { type, native, list } = field;
  const labels = enums[type];
  if (labels) {
    const isValue = (value: unknown) => isText(value) && Object.hasOwn(labels, value);
    return taking('enum', isValue, (value) => labels[value as string]);
  }
  const known = Object.hasOwn(argumentsByType, type) && !list ? argumentsByType[type]?.(field) : undefined;
  if (!known) throw new UnknownShape(`values of ${type}`);
  return native === 'Date' ? { ...known, argType: { ...known.argType, dbType: 'DATE' } } : known;
}

/** Where the parameters of a read hold a value of its statement, and how it is given to the driver. */
interface StatementValue {
  readonly path: ValuePath;
  readonly convert: Argument['convert'];
}

/** What a statement takes as its arguments, in their order. */
export interface StatementArguments {
  readonly argTypes: ArgType[];
  readonly values: readonly StatementValue[];
}

/** How the arguments of a statement are found. @throws UnknownShape */
export function valuesOf(bindings: readonly Binding[], dataModel: DataModel): StatementArguments {
  const values = bindings.map(({ path, field }) => ({ path, ...argumentOf(field, dataModel) }));
  return { argTypes: values.map(({ argType }) => argType), values };
}

/** The arguments for a read. @throws UnknownShape for values of which it is not certain */
export function argumentsOf({ values }: StatementArguments, parameters: object): unknown[] {
  const step = (value: unknown, name: string | number) => (value as Record<string | number, unknown>)[name];
  return values.map(({ path, convert }) => convert(path.reduce<unknown>(step, parameters)));
}

/** Takes the values that `holds` vouches for, and none else. */
function taking(
  scalarType: ArgType['scalarType'],
  holds: (value: unknown) => boolean,
  change = (value: unknown): unknown => value,
): Argument {
  const convert = (value: unknown) => {
    if (holds(value)) return change(value);
    throw new UnknownShape(`a value that is no plain ${scalarType}`);
  };
  return { argType: { scalarType, arity: 'scalar' }, convert };
}

/** A text that a column can hold: without NUL and half of a surrogate pair. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** Whether a value is a whole number that the field may be compared with. */
function within(field: DataField): (value: unknown) => boolean {
  const bounds = comparedBounds(field);
  if (typeof bounds !== 'object' || !('least' in bounds)) throw new UnknownShape(`bounds of ${field.type}`);
  const { least, most } = bounds;
  return (value) =>
    (Number.isInteger(value) || typeof value === 'bigint') && isBetween(value as number | bigint, least, most);
}

function isMoment(value: unknown): boolean {
  return value instanceof Date && isBetween(value.getTime(), moments.first, moments.last);
}

function isBetween(value: number | bigint, least: number | bigint, most: number | bigint): boolean {
  return value >= least && value <= most;
}

/** JSON in which no character is escaped by its number, as NUL and half of a surrogate pair are. */
function plainJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.includes('\\u')) throw new UnknownShape('Json with control characters');
  return text;
}

/** What `write` makes; undefined where it meets what is not known. */
export function ifKnown<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof UnknownField) return undefined;
    throw error;
  }
}
