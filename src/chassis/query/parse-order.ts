import { expectObject } from './parse-json.ts';
import type { PolicyRules } from './policy-rules.ts';
import { Refusal, show } from './query-refusal.ts';
import type { Order } from './query-types.ts';
import type { OrderTerm } from './sort-rule.ts';
import { refuseName, type Walk } from './walk.ts';

/**
 * Reads an order under a policy: keys sort in the order they stand in, and the primary key is added as the last so that
 * no two records are equal (spec.md: SearchOptions, orderBy).
 */
export function parseOrder(rules: PolicyRules, value: unknown, walk: Walk): OrderTerm[] {
  const input = expectObject(value, walk.path, 'an object of field names to "asc" or "desc"');
  const keys = Object.keys(input);
  if (keys.length > walk.limits.orderBy) {
    throw new Refusal(walk.path, `expected at most ${walk.limits.orderBy} keys, got ${keys.length}`);
  }
  const terms: OrderTerm[] = [];
  for (const key of keys) {
    walk.path.push(key);
    const rule = rules.sorts.get(key) ?? refuseName(walk, key, rules.sorts.keys());
    const direction = input[key];
    if (direction !== 'asc' && direction !== 'desc') {
      throw new Refusal(walk.path, `expected "asc" or "desc", got ${show(direction)}`);
    }
    terms.push(rule[direction]);
    walk.path.pop();
  }
  if (!Object.hasOwn(input, 'id')) terms.push(rules.idSort.asc);
  return terms;
}

/** The terms in the ORM's form. */
export function toOrder(terms: readonly OrderTerm[]): Order {
  return terms.map((term) => term.orm);
}
