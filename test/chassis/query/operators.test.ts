import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operatorSchema } from '../../../src/chassis/openapi/field-schemas.ts';
import { type Operator, operators, operatorsOf } from '../../../src/chassis/query/operators.ts';
import type { FieldKind } from '../../../src/chassis/query/policy/field-types.ts';
import { ListPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import type { FieldFilter } from '../../../src/chassis/query/policy/policy-rules.ts';
import { reasonOf } from './refusal-of.ts';

/** A field of each kind, and a value of it. */
const fields: Record<FieldKind, [z.ZodType, unknown]> = {
  text: [z.string(), 'x'],
  uuid: [z.uuid(), '00000000-0000-4000-8000-000000000000'],
  integer: [z.int(), 1],
  number: [z.number(), 1.5],
  boolean: [z.boolean(), true],
  date: [z.date(), '2026-01-31'],
  bigint: [z.bigint(), '1'],
  decimal: [z.string().meta({ format: 'decimal' }), '1.5'],
  enum: [z.enum(['a', 'b']), 'a'],
  json: [z.array(z.string()), 'x'],
  other: [z.unknown(), 'x'],
};
const kinds = Object.keys(fields) as FieldKind[];
/** A text that begins with the same hardly more than once: what repeats itself costs more. */
const letters = Array.from({ length: 2_000 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('');

function policyOf(name: string, kind: FieldKind) {
  const record = z.object({ id: z.string(), field: fields[kind][0].nullable() });
  return new ListPolicy('Sample', { record, filter: { field: [name] } });
}

function parse(name: string, kind: FieldKind, operand: unknown, mode?: string) {
  const condition = { field: { [name]: operand, ...(mode && { mode }) } };
  return policyOf(name, kind).parseFind({ where: JSON.stringify(condition) });
}

describe.each(Object.entries<Operator>(operators))('the operator %s', (name, operator) => {
  const one = (kind: FieldKind) => (operator.operand === 'list' ? [fields[kind][1]] : fields[kind][1]);

  it('is declared for the fields of its kinds, and for others a mistake that stops the start', () => {
    for (const kind of kinds) {
      if (operator.kinds.includes(kind)) expect(() => parse(name, kind, one(kind)), kind).not.toThrow();
      else expect(() => policyOf(name, kind), kind).toThrow(`a field of kind ${kind} takes`);
    }
  });

  it('takes exactly the operands that the API document describes', () => {
    for (const kind of operator.kinds) {
      const { rules, schemas } = policyOf(name, kind);
      const schema = operatorSchema(rules.filters.get('field') as FieldFilter, name, rules.limits);
      const accepts = (operand: unknown) => schemas.whereSchema.safeParse({ field: { [name]: operand } }).success;
      if (kind === 'json') {
        // Every JSON value is one of the field.
        expect([[], {}, null, 'x', 1].map(accepts)).toEqual([true, true, true, true, true]);
        continue;
      }
      expect(accepts([fields[kind][1]]), `${kind}, a list`).toBe(schema.type === 'array');
      expect(accepts(fields[kind][1]), `${kind}, a value`).toBe(schema.type !== 'array');
      expect(accepts(null), `${kind}, null`).toBe(schema.nullable === true);
      if (schema.type === 'array') expect(accepts(Array(Number(schema.maxItems) + 1).fill(one(kind)))).toBe(false);
      expect(accepts({}), `${kind}, an object`).toBe(false);
    }
  });

  it('has a translation for each database that says something of the field', () => {
    for (const insensitive of operator.cost.insensitive ? [false, true] : [false]) {
      for (const translate of [operator.translation.postgresql, operator.translation.sqlite]) {
        const filter = translate({ field: 'field', operand: one('text'), insensitive });
        expect(JSON.stringify(filter)).toMatch(/"field":.*x/);
      }
    }
  });

  it.each(['default', 'insensitive'] as const)(
    'with mode %s is refused, or every text that it searches for is bounded',
    (mode) => {
      const [kind] = operator.kinds as [FieldKind];
      const cost = operator.cost[mode];
      if (mode === 'insensitive' && cost === undefined) {
        expect(() => parse(name, kind, one(kind), mode)).toThrow();
        return;
      }
      const given = operator.cost.insensitive ? mode : undefined;
      const { searches, searchText } = policyOf(name, kind).rules.limits;
      const all = (times: number, text = 'x') => {
        const operand = operator.operand === 'list' ? Array(times).fill(text) : text;
        const conditions = operator.operand === 'list' ? 1 : times;
        const AND = Array(conditions).fill({ field: { [name]: operand, ...(given && { mode: given }) } });
        return () => policyOf(name, kind).parseFind({ where: JSON.stringify({ AND }) });
      };
      expect(all(searches)).not.toThrow();
      expect(all(1, letters.slice(0, searchText))).not.toThrow();
      if (cost !== 'search') return;
      expect(reasonOf(all(searches + 1))).toContain(`at most ${searches} searches`);
      expect(reasonOf(all(1, letters.slice(0, searchText + 1)))).toContain(`at most ${searchText} characters`);
    },
  );
});

describe('the table of operators', () => {
  it('serves no comparison by an index that ignores the case of letters, for which there is none', () => {
    for (const [name, { cost }] of Object.entries<Operator>(operators)) {
      expect(cost.insensitive ?? 'search', name).toBe('search');
    }
  });

  it('says what a comparison of a Json field costs, for the operators that one takes and for no other', () => {
    const costed = Object.entries<Operator>(operators).filter(([, { cost }]) => cost.json !== undefined);
    expect(costed.map(([name, { cost }]) => [name, cost.json])).toEqual(
      operatorsOf('json').map((name) => [name, 'scan']),
    );
  });

  it('gives each kind of field the operators that mean something for it', () => {
    const taken = (kind: FieldKind) =>
      Object.keys(operators).filter((name) => (operators as Record<string, Operator>)[name]?.kinds.includes(kind));
    expect(taken('boolean')).toEqual(['equals', 'not']);
    expect(taken('enum')).toEqual(['equals', 'not', 'in', 'notIn']);
    expect(taken('date')).toEqual(['equals', 'not', 'in', 'notIn', 'lt', 'lte', 'gt', 'gte']);
    expect(taken('other')).toEqual([]);
  });
});
