import {
  type ComparisonCost,
  logicalOperators,
  operatorNamed,
  relationForms,
  relationOperators,
} from '../operators.ts';
import type { FieldKind, FieldRule } from '../policy/field-types.ts';
import type { FieldFilter, OrderTerm, PolicyRules, RelationRule } from '../policy/policy-rules.ts';
import type { Filter, Order } from '../query-types.ts';
import { readJsonComparison } from './json-comparison.ts';
import {
  checkBounds,
  checkDepth,
  countComparison,
  countCost,
  expectObject,
  inParameter,
  type ParseContext,
  type Path,
  Refusal,
  refuseComputed,
  refuseName,
  show,
} from './parameter.ts';

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

/**
 * The filter of a search box: records of which one of the declared fields contains the text, whatever the case of its
 * letters. Undefined for an empty text.
 *
 * @param text the parameter `q` of a request
 * @throws BadRequestException for what is no text of a length that the policy allows
 */
export function parseSearchBox({ search, limits }: PolicyRules, text: unknown): Filter | undefined {
  if (text === undefined || search.length === 0) return undefined;
  return inParameter('q', () => {
    if (typeof text !== 'string') throw new Refusal([], 'expected one text');
    const contains = text.trim();
    if (contains === '') return undefined;
    checkBounds(contains, limits);
    if (contains.length > limits.searchText)
      throw new Refusal([], `expected at most ${limits.searchText} characters, got ${contains.length}`);
    const compared = { contains, mode: 'insensitive' };
    return { OR: search.map((path) => path.reduceRight<Filter>((inner, name) => ({ [name]: inner }), compared)) };
  });
}

function condition(rules: PolicyRules, key: string, value: unknown, context: ParseContext, depth: number): unknown {
  const rule = rules.filters.get(key);
  if (rule) return 'many' in rule ? relation(rule, value, context, depth + 1) : comparison(rule, value, context);
  if ((logicalOperators as readonly string[]).includes(key)) return branches(rules, key, value, context, depth);
  refuseComputed(rules, key, context.path);
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
  // Below another relation it would be searched once for each record there.
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

const dateTime = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const wholeNumber = /^-?\d{1,19}$/;
const decimalNumber = /^-?\d{1,64}(\.\d{1,64})?$/;
const maxInt64 = 2n ** 63n;

/**
 * Turns a JSON value into what the database takes for a field, or refuses it at the path.
 * UUIDs are compared without the case of their letters. Dates come as ISO 8601 (a date alone is midnight UTC), big
 * integers and decimals as a string or a number; values that are already a Date or a bigint pass, so that programs can use the same filters.
 */
export function coerceValue(field: FieldRule, value: unknown, path: Path): unknown {
  const coerced = coerce[field.kind](value, field);
  if (coerced === undefined) throw new Refusal(path, `expected ${expectation(field)}, got ${show(value)}`);
  return coerced;
}

/** Whether a value is one that the database takes for a field. */
export function isValueOf(field: FieldRule, value: unknown): boolean {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return false;
  return coerce[field.kind](value, field) !== undefined;
}

/** What values of a field look like, in words. */
function expectation(field: FieldRule): string {
  if (field.values) return `one of ${[...field.values].map((value) => JSON.stringify(value)).join(', ')}`;
  return words[field.kind];
}

const words: Record<FieldKind, string> = {
  text: 'a string',
  uuid: 'a UUID',
  integer: 'an integer from -2147483648 to 2147483647',
  number: 'a finite number',
  boolean: 'true or false',
  date: 'a date in ISO 8601, such as "2026-01-31" or "2026-01-31T12:00:00Z",',
  bigint: 'a 64 bit integer, as a string when it is large',
  decimal: 'a decimal number, as a string to keep every digit',
  enum: 'a declared value',
  json: 'a JSON value',
  other: 'nothing: this field cannot be filtered',
};

const coerce: Record<FieldKind, (value: unknown, field: FieldRule) => unknown> = {
  text: (value) => (typeof value === 'string' ? value : undefined),
  uuid: (value) => (typeof value === 'string' && uuid.test(value) ? value.toLowerCase() : undefined),
  integer: (value) => (Number.isInteger(value) && Math.abs((value as number) + 0.5) < 2 ** 31 ? value : undefined),
  number: (value) => (Number.isFinite(value) ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  date: toDate,
  bigint: toBigInt,
  decimal: toDecimal,
  enum: (value, field) => (field.values?.has(value) ? value : undefined),
  json: (value) => value,
  other: () => undefined,
};

function toDate(value: unknown): Date | undefined {
  if (value instanceof Date) return inDatabaseRange(value) ? value : undefined;
  const parts = typeof value === 'string' ? dateTime.exec(value) : null;
  if (!parts) return undefined;
  const [text, year, month, day] = parts;
  // The engine takes the 31st of a shorter month for a day of the next one.
  if (Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()) return undefined;
  const date = new Date(text);
  return inDatabaseRange(date) ? date : undefined;
}

// PostgreSQL knows no year 0, and years of five digits are written differently; NaN fails both comparisons.
function inDatabaseRange(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

function toBigInt(value: unknown): bigint | undefined {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!isWhole && !(typeof value === 'string' && wholeNumber.test(value))) return undefined;
  const whole = BigInt(value as bigint | number | string);
  return whole >= -maxInt64 && whole < maxInt64 ? whole : undefined;
}

function toDecimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && decimalNumber.test(text) ? text : undefined;
}

/**
 * Reads an order under a policy: keys sort in the order they stand in, and the primary key is added as the last so that
 * no two records are equal (spec.md: SearchOptions, orderBy). It sorts as the key before it does: an index on both is read
 * in either direction, and in none where they differ.
 */
export function parseOrder(rules: PolicyRules, value: unknown, context: ParseContext): OrderTerm[] {
  const input = expectObject(value, context.path, 'an object of field names to "asc" or "desc"');
  const keys = Object.keys(input);
  if (keys.length > context.limits.orderBy) {
    throw new Refusal(context.path, `expected at most ${context.limits.orderBy} keys, got ${keys.length}`);
  }
  const terms: OrderTerm[] = [];
  for (const key of keys) {
    context.path.push(key);
    const rule = rules.sorts.get(key);
    if (!rule) refuseComputed(rules, key, context.path);
    if (!rule) return refuseName(context, key, rules.sorts.keys());
    const direction = input[key];
    if (direction !== 'asc' && direction !== 'desc') {
      throw new Refusal(context.path, `expected "asc" or "desc", got ${show(direction)}`);
    }
    terms.push(rule[direction]);
    context.path.pop();
  }
  if (!Object.hasOwn(input, 'id')) terms.push(rules.idSort[terms.at(-1)?.direction ?? 'asc']);
  return terms;
}

/** The terms in the ORM's form. */
export function toOrder(terms: readonly OrderTerm[]): Order {
  return terms.map((term) => term.orm);
}
