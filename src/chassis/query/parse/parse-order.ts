import type { FieldRule } from '../policy/field-types.ts';
import type { PolicyRules } from '../policy/policy-rules.ts';
import type { Order } from '../query-types.ts';
import { expectObject, type ParseContext, Refusal, refuseComputed, refuseName, show } from './parameter.ts';

/**
 * Reads an order under a policy: keys sort in the order they stand in, and the primary key is added as the last so that
 * no two records are equal (spec.md: SearchOptions, orderBy).
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
  if (!Object.hasOwn(input, 'id')) terms.push(rules.idSort.asc);
  return terms;
}

/** The terms in the ORM's form. */
export function toOrder(terms: readonly OrderTerm[]): Order {
  return terms.map((term) => term.orm);
}

/** A direction of sorting (spec.md: SearchOptions, orderBy). */
export type SortDirection = 'asc' | 'desc';

/** A key that may sort, with both of its directions in the ORM's form. */
export interface SortRule {
  /** The field, after the relation that leads to it. */
  readonly path: readonly string[];
  readonly field: FieldRule;
  readonly asc: OrderTerm;
  readonly desc: OrderTerm;
}

/** One key of an order, in one direction. */
export interface OrderTerm {
  readonly path: readonly string[];
  readonly field: FieldRule;
  readonly direction: SortDirection;
  /** The ORM's form. Records without a value come last in both directions, on both databases. */
  readonly orm: Record<string, unknown>;
  /** Names the term in what a cursor is bound to. */
  readonly name: string;
}

/** Prepares a key for sorting; `relations` lead from the record to the field. */
export function sortRule(relations: readonly string[], field: FieldRule): SortRule {
  const path = [...relations, field.name];
  return { path, field, asc: term(path, field, 'asc'), desc: term(path, field, 'desc') };
}

function term(path: readonly string[], field: FieldRule, direction: SortDirection): OrderTerm {
  const sort = field.nullable ? Object.freeze({ sort: direction, nulls: 'last' }) : direction;
  const orm = path.reduceRight<unknown>((inner, name) => Object.freeze({ [name]: inner }), sort);
  const name = `${path.join('.')}:${direction}:${field.kind}${field.nullable ? '?' : ''}`;
  return { path, field, direction, orm: orm as OrderTerm['orm'], name };
}
