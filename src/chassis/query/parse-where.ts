import { coerceValue } from './coerce-value.ts';
import { expectObject } from './parse-json.ts';
import type { FieldFilter, PolicyRules, RelationRule } from './policy-rules.ts';
import { Refusal, show } from './query-refusal.ts';
import type { Filter } from './query-types.ts';
import { checkDepth, countCost, refuseName, type Walk } from './walk.ts';

const logical = ['AND', 'OR', 'NOT'];
const toOne = ['is', 'isNot'];
const toMany = ['some', 'every', 'none'];
const comparisons = ['gt', 'gte', 'lt', 'lte'];
const textual = ['contains', 'startsWith', 'endsWith'];

/**
 * Reads a filter under a policy, with every value in the type of its field. What the policy does not declare is refused
 * (spec.md: SearchOptions, where). An empty object is no condition.
 */
export function parseWhere(rules: PolicyRules, value: unknown, walk: Walk, depth = 0): Filter {
  const input = expectObject(value, walk.path, 'an object of conditions');
  const where: Filter = {};
  for (const key of Object.keys(input)) {
    walk.path.push(key);
    where[key] = condition(rules, key, input[key], walk, depth);
    walk.path.pop();
  }
  return where;
}

function condition(rules: PolicyRules, key: string, value: unknown, walk: Walk, depth: number): unknown {
  const rule = rules.filters.get(key);
  if (rule) return 'many' in rule ? relation(rule, value, walk, depth + 1) : comparison(rule, value, walk);
  if (key === 'OR' || key === 'AND' || key === 'NOT') return branches(rules, key, value, walk, depth);
  return refuseName(walk, key, [...rules.filters.keys(), ...logical]);
}

function branches(rules: PolicyRules, key: string, value: unknown, walk: Walk, depth: number): unknown {
  if (!Array.isArray(value)) {
    if (key === 'OR') throw new Refusal(walk.path, `expected an array of conditions, got ${show(value)}`);
    return parseWhere(rules, value, walk, depth);
  }
  return value.map((branch, index) => {
    walk.path.push(index);
    const where = parseWhere(rules, branch, walk, depth);
    walk.path.pop();
    return where;
  });
}

function relation(rule: RelationRule, value: unknown, walk: Walk, depth: number): Filter {
  checkDepth(walk, depth);
  countCost(walk, 'relations', 'relations in one filter');
  // Below another relation it would be looked through anew for each record there.
  if (rule.many && depth > 1)
    throw new Refusal(walk.path, 'a relation to many cannot be asked about below another relation');
  const input = expectObject(value, walk.path, 'an object of conditions');
  const keys = Object.keys(input);
  const quantifiers = rule.many ? toMany : toOne;
  if (!rule.many && !(keys.length > 0 && keys.every((key) => toOne.includes(key)))) {
    return parseWhere(rule.target, input, walk, depth);
  }
  const filter: Filter = {};
  for (const key of keys) {
    walk.path.push(key);
    if (!quantifiers.includes(key)) refuseName(walk, key, quantifiers);
    if (rule.many) countCost(walk, 'manyRelations', 'looks through relations to many in one filter');
    filter[key] = parseWhere(rule.target, input[key], walk, depth);
    walk.path.pop();
  }
  return filter;
}

function comparison(rule: FieldFilter, value: unknown, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    if (!rule.operators.has('equals')) refuseName(walk, 'equals', allowedOperators(rule));
    return operand(rule, 'equals', value, walk);
  }
  const input = expectObject(value, walk.path, `a value or an object of ${allowedOperators(rule).join(', ')}`);
  const filter: Filter = {};
  for (const operator of Object.keys(input)) {
    walk.path.push(operator);
    filter[operator] = operand(rule, operator, input[operator], walk);
    walk.path.pop();
  }
  if ('mode' in filter) checkMode(filter, walk);
  return filter;
}

function operand(rule: FieldFilter, operator: string, value: unknown, walk: Walk): unknown {
  if (!rule.operators.has(operator)) {
    if (operator === 'mode' && takesMode(rule)) return mode(value, walk);
    refuseName(walk, operator, allowedOperators(rule));
  }
  if (operator === 'in' || operator === 'notIn') return list(rule, value, walk);
  if (textual.includes(operator)) checkSearch(value, walk);
  if (value === null && rule.field.nullable && (operator === 'equals' || operator === 'not')) return null;
  return coerceValue(rule.field, value, walk.path);
}

function checkSearch(value: unknown, walk: Walk): void {
  countCost(walk, 'searches', 'searches for a part of a text in one filter');
  const { searchText } = walk.limits;
  if (typeof value !== 'string' || value.length <= searchText) return;
  throw new Refusal(walk.path, `expected at most ${searchText} characters to search for, got ${value.length}`);
}

function list(rule: FieldFilter, value: unknown, walk: Walk): unknown[] {
  if (!Array.isArray(value)) throw new Refusal(walk.path, `expected an array of values, got ${show(value)}`);
  return value.map((item, index) => {
    walk.path.push(index);
    const coerced = coerceValue(rule.field, item, walk.path);
    walk.path.pop();
    return coerced;
  });
}

function mode(value: unknown, walk: Walk): string {
  if (value === 'insensitive' || value === 'default') return value;
  throw new Refusal(walk.path, `expected "insensitive" or "default", got ${show(value)}`);
}

function checkMode(filter: Filter, walk: Walk): void {
  if (Object.keys(filter).length === 1) throw new Refusal(walk.path, 'mode needs an operator beside it');
  const compared = filter.mode === 'insensitive' && comparisons.find((operator) => operator in filter);
  if (compared) throw new Refusal(walk.path, `mode "insensitive" has no meaning for ${compared}; put it under AND`);
}

function takesMode({ field, operators }: FieldFilter): boolean {
  return field.kind === 'text' && ['equals', ...textual].some((operator) => operators.has(operator));
}

function allowedOperators(rule: FieldFilter): string[] {
  return takesMode(rule) ? [...rule.operators, 'mode'] : [...rule.operators];
}
