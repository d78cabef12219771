import type { OrderTerm, PolicyRules } from '../policy/policy-rules.ts';
import type { Order } from '../query-types.ts';
import { expectObject, type ParseContext, Refusal, refuseComputed, refuseName, show } from './parameter.ts';

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
