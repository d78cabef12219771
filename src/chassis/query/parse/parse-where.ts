import {
  type ComparisonCost,
  logicalOperators,
  operatorNamed,
  relationForms,
  relationOperators,
} from '../operators.ts';
import type { FieldFilter, PolicyRules, RelationRule } from '../policy/policy-rules.ts';
import type { Filter } from '../query-types.ts';
import { coerceValue } from './coerce-value.ts';
import { readJsonComparison } from './json-comparison.ts';
import { expectObject } from './parse-json.ts';
import {
  checkDepth,
  countComparison,
  countCost,
  type ParseContext,
  Refusal,
  refuseName,
  show,
} from './query-refusal.ts';

type Mode = 'default' | 'insensitive';

/**
 * Reads a filter under a policy, with every value in the type of its field. What the policy does not declare is refused
 * (spec.md: SearchOptions, where). An empty object is no condition.
 */
export function parseWhere(rules: PolicyRules, value: unknown, context: ParseContext, depth = 0): Filter {
  const input = expectObject(value, context.path, 'an object of conditions');
  const where: Filter = {};
  for (const key of Object.keys(input)) {
    context.path.push(key);
    where[key] = condition(rules, key, input[key], context, depth);
    context.path.pop();
  }
  return where;
}

function condition(rules: PolicyRules, key: string, value: unknown, context: ParseContext, depth: number): unknown {
  const rule = rules.filters.get(key);
  if (rule) return 'many' in rule ? relation(rule, value, context, depth + 1) : comparison(rule, value, context);
  if ((logicalOperators as readonly string[]).includes(key)) return branches(rules, key, value, context, depth);
  return refuseName(context, key, [...rules.filters.keys(), ...logicalOperators]);
}

function branches(rules: PolicyRules, key: string, value: unknown, context: ParseContext, depth: number): unknown {
  if (!Array.isArray(value)) {
    if (key === 'OR') throw new Refusal(context.path, `expected an array of conditions, got ${show(value)}`);
    return parseWhere(rules, value, context, depth);
  }
  return value.map((branch, index) => {
    context.path.push(index);
    const where = parseWhere(rules, branch, context, depth);
    context.path.pop();
    return where;
  });
}

function relation(rule: RelationRule, value: unknown, context: ParseContext, depth: number): Filter {
  checkDepth(context, depth);
  countCost(context, 'relations', 'relations in one filter');
  // Below another relation it would be looked through anew for each record there.
  if (rule.many && depth > 1)
    throw new Refusal(context.path, 'a relation to many cannot be asked about below another relation');
  const input = expectObject(value, context.path, 'an object of conditions');
  const filter: Filter = {};
  for (const [word, conditions] of relationForms(rule.many, input)) {
    if (word === '') return parseWhere(rule.target, conditions, context, depth);
    context.path.push(word);
    const words = relationOperators(rule.many);
    if (!words.includes(word)) refuseName(context, word, words);
    if (rule.many) countCost(context, 'manyRelations', 'looks through relations to many in one filter');
    filter[word] = parseWhere(rule.target, conditions, context, depth);
    context.path.pop();
  }
  return filter;
}

function comparison(rule: FieldFilter, value: unknown, context: ParseContext): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    if (rule.field.kind === 'json') return readJsonComparison(rule, { equals: value }, context);
    return operand(rule, 'equals', value, context, 'default');
  }
  const input = expectObject(value, context.path, `a value or an object of ${rule.words.join(', ')}`);
  if (rule.field.kind === 'json') return readJsonComparison(rule, input, context);
  const mode = Object.hasOwn(input, 'mode') && rule.words.includes('mode') ? readMode(input, context) : 'default';
  const filter: Filter = {};
  for (const name of Object.keys(input)) {
    context.path.push(name);
    filter[name] =
      name === 'mode' && rule.words.includes(name) ? mode : operand(rule, name, input[name], context, mode);
    context.path.pop();
  }
  return filter;
}

function operand(rule: FieldFilter, name: string, value: unknown, context: ParseContext, mode: Mode): unknown {
  const operator = rule.operators.has(name) ? operatorNamed(name) : undefined;
  if (!operator) return refuseName(context, name, rule.words);
  const cost = operator.cost[mode];
  if (!cost) throw new Refusal(context.path, `mode "${mode}" has no meaning for ${name}; put it under AND`);
  if (operator.operand === 'list') return list(rule, value, context, cost);
  countComparison(context, cost, value);
  if (value === null && rule.field.nullable && operator.operand === 'nullable') return null;
  return coerceValue(rule.field, value, context.path);
}

function list(rule: FieldFilter, value: unknown, context: ParseContext, cost: ComparisonCost): unknown[] {
  if (!Array.isArray(value)) throw new Refusal(context.path, `expected an array of values, got ${show(value)}`);
  return value.map((item, index) => {
    context.path.push(index);
    countComparison(context, cost, item);
    const coerced = coerceValue(rule.field, item, context.path);
    context.path.pop();
    return coerced;
  });
}

function readMode(input: Record<string, unknown>, context: ParseContext): Mode {
  const { mode } = input;
  if (mode !== 'insensitive' && mode !== 'default') {
    throw new Refusal([...context.path, 'mode'], `expected "insensitive" or "default", got ${show(mode)}`);
  }
  if (Object.keys(input).length === 1) throw new Refusal(context.path, 'mode needs an operator beside it');
  return mode;
}
