import type { PolicyRules, RelationRule } from '../policy/policy-rules.ts';
import type { Selection } from '../query-types.ts';
import { checkDepth, expectObject, type ParseContext, Refusal, refuseName, show } from './parameter.ts';
import { parseOrder, parseWhere, toOrder } from './parse-search.ts';

const toOneOptions = ['include', 'select'];
const toManyOptions = ['where', 'orderBy', 'take', 'include', 'select'];

/**
 * Reads an include under a policy and returns what to select: the record's fields and the relations asked for, so that
 * no other field leaves the database (spec.md: SearchOptions, include). A relation to many is always bounded and ordered,
 * and stands at the top, where it is read for each record of the list and not for each of their relations.
 * `select` chooses among the fields of a record; relations are named by `include` beside it.
 */
export function parseInclude(rules: PolicyRules, value: unknown, context: ParseContext): Selection {
  return includeInto(rules, { ...rules.select }, value, context, 0, 1);
}

/** Whether a part of a selection is a relation to many: those are always bounded. */
export function isToMany(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'take' in part;
}

/** Refuses an include that could return more related records than the policy allows, for `take` records of the list. */
export function checkRelated(context: ParseContext, take: number): void {
  const { records } = context.limits;
  if (context.related * take <= records) return;
  throw new Refusal(
    [],
    `asks for up to ${context.related * take} related records, at most ${records} are allowed; lower take or pageSize`,
  );
}

function includeInto(
  rules: PolicyRules,
  selection: Record<string, unknown>,
  value: unknown,
  context: ParseContext,
  depth: number,
  parents: number,
): Selection {
  const input = expectObject(value, context.path, 'an object of relations to true or options');
  for (const name of Object.keys(input)) {
    context.path.push(name);
    const rule = rules.includes.get(name) ?? refuseName(context, name, rules.includes.keys());
    checkDepth(context, depth + 1);
    selection[name] = included(rule, input[name], context, depth + 1, parents);
    context.path.pop();
  }
  return selection;
}

function included(
  rule: RelationRule,
  value: unknown,
  context: ParseContext,
  depth: number,
  parents: number,
): Selection {
  const options = value === true ? {} : expectObject(value, context.path, `true or an object, got ${show(value)}`);
  const allowed = rule.many ? toManyOptions : toOneOptions;
  for (const option of Object.keys(options)) {
    if (!allowed.includes(option)) refuseName(context, option, allowed);
  }
  if (!rule.many) return { select: fieldsAndRelations(rule.target, options, context, depth, parents) };
  if (depth > 1) throw new Refusal(context.path, 'a relation to many cannot be included below another relation');
  const take = at('take', options, context, (given) => takeOf(given, context)) ?? context.limits.defaultTake;
  context.related += parents * take;
  const where = at('where', options, context, (given) => parseWhere(rule.target, given, context, depth));
  const terms = at('orderBy', options, context, (given) => parseOrder(rule.target, given, context));
  return {
    select: fieldsAndRelations(rule.target, options, context, depth, parents * take),
    ...(where && { where }),
    orderBy: toOrder(terms ?? [rule.target.idSort.asc]),
    take,
  };
}

function fieldsAndRelations(
  rules: PolicyRules,
  options: Record<string, unknown>,
  context: ParseContext,
  depth: number,
  parents: number,
): Selection {
  const selection = at('select', options, context, (given) => fieldsOf(rules, given, context)) ?? { ...rules.select };
  at('include', options, context, (given) => includeInto(rules, selection, given, context, depth, parents));
  if (Object.keys(selection).length > 0) return selection;
  throw new Refusal([...context.path, 'select'], 'expected at least one field that is true');
}

function fieldsOf(rules: PolicyRules, value: unknown, context: ParseContext): Record<string, unknown> {
  const input = expectObject(value, context.path, 'an object of field names to true or false');
  const selection: Record<string, unknown> = {};
  for (const name of Object.keys(input)) {
    if (!Object.hasOwn(rules.select, name)) refuseName(context, name, Object.keys(rules.select));
    if (typeof input[name] !== 'boolean')
      throw new Refusal([...context.path, name], `expected true or false, got ${show(input[name])}`);
    if (input[name]) selection[name] = true;
  }
  return selection;
}

function takeOf(value: unknown, context: ParseContext): number {
  const { take } = context.limits;
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= take) return value as number;
  throw new Refusal(context.path, `expected an integer from 1 to ${take}, got ${show(value)}`);
}

function at<T>(
  option: string,
  options: Record<string, unknown>,
  context: ParseContext,
  read: (given: unknown) => T,
): T | undefined {
  if (!Object.hasOwn(options, option)) return undefined;
  context.path.push(option);
  const result = read(options[option]);
  context.path.pop();
  return result;
}
