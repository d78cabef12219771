import { operatorNamed } from '../query/operators.ts';
import type { FieldKind, FieldRule } from '../query/policy/field-types.ts';
import type { FieldFilter } from '../query/policy/policy-rules.ts';
import type { QueryLimits } from '../query/policy/query-limits.ts';
import type { Json } from './deep-merge.ts';

const kinds: Record<FieldKind, Json> = {
  text: { type: 'string' },
  uuid: { type: 'string', format: 'uuid' },
  integer: { type: 'integer', format: 'int32' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date-time' },
  bigint: { type: 'string', pattern: '^-?\\d{1,19}$' },
  decimal: { type: 'string', pattern: '^-?\\d{1,64}(\\.\\d{1,64})?$' },
  enum: {},
  json: {},
  other: {},
};

/** The schema of a value that a field is compared with. */
export function valueSchema({ kind, values, nullable }: FieldRule, limits: Readonly<QueryLimits>): Json {
  const allowed = values && [...values, ...(nullable && !values.has(null) ? [null] : [])];
  return {
    ...kinds[kind],
    ...(kind === 'text' && { maxLength: limits.string }),
    ...(allowed?.every((value) => typeof value === 'string' || value === null) && { type: 'string' }),
    ...(allowed && { enum: allowed }),
    ...(nullable && { nullable: true }),
  };
}

/** The schema of what stands after an operator. */
export function operatorSchema({ field }: FieldFilter, operator: string, limits: Readonly<QueryLimits>): Json {
  const operand = operatorNamed(operator)?.operand;
  const value = valueSchema(operand === 'nullable' ? field : { ...field, nullable: false }, limits);
  return operand === 'list' ? { type: 'array', maxItems: limits.in, items: value } : value;
}

/** A value that stands for many: comparisons with it are likely to find something. */
export function exampleValue({ kind, values }: FieldRule): unknown {
  if (values) return [...values].find((value) => value !== null);
  return {
    text: 'a',
    uuid: '00000000-0000-4000-8000-000000000000',
    integer: 0,
    number: 0,
    boolean: true,
    date: '2020-01-01T00:00:00Z',
    bigint: '0',
    decimal: '0',
    json: {},
  }[kind as string];
}
