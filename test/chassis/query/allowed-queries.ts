import fc, { type Arbitrary } from 'fast-check';
import { type Operator, operatorNamed } from '../../../src/chassis/query/operators.ts';
import type { FieldRule } from '../../../src/chassis/query/policy/field-types.ts';
import type { PolicyRules, RelationRule } from '../../../src/chassis/query/policy/policy-rules.ts';

type Json = Record<string, unknown>;

/** Queries within a policy: every operator on every field, through relations, with logic, orders and includes. */
export function allowedQueries(rules: PolicyRules): Arbitrary<Record<string, string>> {
  const isSmall = (text: string) =>
    text.split('":').length <= rules.limits.keys &&
    counted(text, /"(category|products|profile|user)":/g) <= rules.limits.relations &&
    counted(text, /"(some|every|none)":/g) <= rules.limits.manyRelations &&
    searches(JSON.parse(text)) <= rules.limits.searches;
  const text = (part: Arbitrary<Json>) => part.map((value) => JSON.stringify(value)).filter(isSmall);
  return fc.record(
    {
      where: text(filters(rules, 2)),
      orderBy: text(orders(rules)),
      include: text(includes(rules, 2)),
      cursor: fc.constant(''),
    },
    { requiredKeys: [] },
  );
}

function counted(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}

/** How many values of a filter are compared without an index. */
function searches(filter: unknown): number {
  if (typeof filter !== 'object' || filter === null) return 0;
  const { mode = 'default' } = filter as { mode?: 'default' | 'insensitive' };
  const counts = Object.entries(filter).map(([name, value]) => {
    const operator = operatorNamed(name);
    if (!operator) return searches(value);
    return operator.cost[mode] === 'search' ? [value].flat().length : 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Relations to many stand at the top only. */
function filters(rules: PolicyRules, depth: number, top = true): Arbitrary<Json> {
  const allowed = [...rules.filters].filter(([, rule]) => top || !('many' in rule && rule.many));
  const conditions = allowed.map(([name, rule]) => {
    if (!('many' in rule)) return operators(rule.field, rule.operators).map((condition) => ({ [name]: condition }));
    if (depth === 0) return fc.constant({});
    return through(rule, filters(rule.target, depth - 1, false)).map((condition) => ({ [name]: condition }));
  });
  const one = fc.oneof(...(conditions as Arbitrary<Json>[]));
  const some = fc.array(one, { maxLength: 2 });
  return fc.oneof(one, fc.record({ OR: some, AND: some, NOT: fc.oneof(one, some) }, { requiredKeys: [] }));
}

function through({ many }: RelationRule, filter: Arbitrary<Json>): Arbitrary<Json> {
  const forms = many ? ['some', 'every', 'none'] : ['is', 'isNot'];
  const wrapped = fc.tuple(fc.constantFrom(...forms), filter).map(([form, condition]) => ({ [form]: condition }));
  return many ? wrapped : fc.oneof(filter, wrapped);
}

function operators(field: FieldRule, allowed: ReadonlySet<string>): Arbitrary<unknown> {
  const value = values(field);
  const forms = [...allowed].map((operator): Arbitrary<unknown> => {
    const { operand, cost } = operatorNamed(operator) as Operator;
    const operands: Arbitrary<unknown> =
      operand === 'list'
        ? fc.array(value, { maxLength: 3 })
        : operand === 'nullable' && field.nullable
          ? fc.option(value)
          : value;
    const modes = field.kind === 'text' && cost.insensitive ? ['insensitive', 'default', undefined] : [undefined];
    return fc
      .tuple(operands, fc.constantFrom(...modes))
      .map(([given, mode]) => ({ [operator]: given, ...(mode && { mode }) }));
  });
  return allowed.has('equals') ? fc.oneof(value, ...forms) : fc.oneof(...forms);
}

function values({ kind, values: closed }: FieldRule): Arbitrary<unknown> {
  if (closed) return fc.constantFrom(...closed);
  if (kind === 'integer') return fc.integer();
  if (kind === 'boolean') return fc.boolean();
  if (kind === 'date')
    return fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  return fc.oneof(fc.constantFrom('s1', 'name 1', 'product', 'place 2', '%', '_', "'", '\\'), safeText);
}

const safeText = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0'));

function orders(rules: PolicyRules): Arbitrary<Json> {
  const keys = [...rules.sorts.keys()];
  const directed = fc.tuple(fc.constantFrom(...keys), fc.constantFrom('asc', 'desc'));
  return fc
    .uniqueArray(directed, { selector: ([key]) => key, maxLength: 4 })
    .map((entries) => Object.fromEntries(entries));
}

function includes(rules: PolicyRules, depth: number, top = true): Arbitrary<Json> {
  const allowed = [...rules.includes].filter(([, rule]) => top || !rule.many);
  const relations = allowed.map(([name, { many, target }]) => {
    const select = fc
      .subarray([...target.fields.keys()], { minLength: 1 })
      .map((names) => Object.fromEntries(names.map((field) => [field, true])));
    const nested = depth > 1 ? { include: includes(target, depth - 1, false) } : {};
    const list = many
      ? { where: filters(target, 1, false), orderBy: orders(target), take: fc.integer({ min: 1, max: 5 }) }
      : {};
    const options = fc.record({ select, ...nested, ...list } as Record<string, Arbitrary<unknown>>, {
      requiredKeys: [],
    });
    return fc.oneof(fc.constant(true), options).map((value) => ({ [name]: value }));
  });
  return fc.oneof(fc.constant({}), ...(relations as Arbitrary<Json>[]));
}
