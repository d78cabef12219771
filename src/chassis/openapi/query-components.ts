import type { FieldFilter, PolicyRules, RelationRule } from '../query/policy/policy-rules.ts';
import type { Json } from './deep-merge.ts';
import { operatorSchema, valueSchema } from './field-schemas.ts';
import { schemaReference } from './schema-components.ts';

type Part = 'Filter' | 'Order' | 'Include';

/**
 * Component schemas of what list policies allow in `where`, `orderBy` and `include`: `ProductFilter`, `ProductOrder`,
 * `ProductInclude`. Each is made when it is first referred to, so policies may refer to each other.
 */
export class QueryComponents {
  readonly schemas: Record<string, Json> = {};
  readonly #names = new Map<PolicyRules, string>();
  readonly #make: Record<Part, (rules: PolicyRules) => Json> = {
    Filter: (rules) => this.#filter(rules),
    Order: orderSchema,
    Include: (rules) => this.#include(rules),
  };

  /** A reference to what a policy allows in one parameter. */
  reference(rules: PolicyRules, part: Part): Json {
    const name = this.#nameOf(rules) + part;
    if (!(name in this.schemas)) {
      this.schemas[name] = {};
      this.schemas[name] = this.#make[part](rules);
    }
    return schemaReference(name);
  }

  /** The model's name; further policies of one model are numbered. */
  #nameOf(rules: PolicyRules): string {
    const known = this.#names.get(rules);
    if (known !== undefined) return known;
    const others = new Set(this.#names.values());
    let name = rules.model;
    for (let number = 2; others.has(name); number++) name = rules.model + number;
    this.#names.set(rules, name);
    return name;
  }

  #filter(rules: PolicyRules): Json {
    const self = this.reference(rules, 'Filter');
    const conditions = { type: 'array', items: self };
    const fields = [...rules.filters].map(([name, rule]) => [
      name,
      'many' in rule ? this.#relationFilter(rule) : fieldFilter(rule, rules),
    ]);
    return closed({
      ...Object.fromEntries(fields),
      AND: { anyOf: [conditions, self], description: 'All of them hold' },
      OR: { ...conditions, description: 'At least one of them holds' },
      NOT: { anyOf: [conditions, self], description: 'None of them holds' },
    });
  }

  #relationFilter({ many, target }: RelationRule): Json {
    const filter = this.reference(target, 'Filter');
    if (many) return closed({ some: filter, every: filter, none: filter });
    return { anyOf: [filter, closed({ is: filter, isNot: filter })] };
  }

  #include(rules: PolicyRules): Json {
    return closed(
      Object.fromEntries(
        [...rules.includes].map(([name, rule]) => [
          name,
          { anyOf: [{ type: 'boolean', enum: [true] }, closed(this.#includeOptions(rule, rules))] },
        ]),
      ),
    );
  }

  #includeOptions({ many, target }: RelationRule, { limits }: PolicyRules): Json {
    const fields = Object.keys(target.select).map((name) => [name, { type: 'boolean' }]);
    return {
      ...(many && {
        where: this.reference(target, 'Filter'),
        orderBy: this.reference(target, 'Order'),
        take: { type: 'integer', minimum: 1, maximum: limits.take, default: limits.defaultTake },
      }),
      ...(target.includes.size > 0 && { include: this.reference(target, 'Include') }),
      select: closed(Object.fromEntries(fields)),
    };
  }
}

function fieldFilter(rule: FieldFilter, { limits }: PolicyRules): Json {
  const mode = { type: 'string', enum: ['insensitive', 'default'], default: 'default' };
  const modifiers: Record<string, Json> = { mode, path: jsonPath };
  const words = rule.words.map((name) => [name, modifiers[name] ?? operatorSchema(rule, name, limits)]);
  const compared = closed(Object.fromEntries(words));
  return rule.operators.has('equals') ? { anyOf: [valueSchema(rule.field, limits), compared] } : compared;
}

const jsonPath = {
  type: 'array',
  minItems: 1,
  maxItems: 10,
  items: { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 0 }] },
  description: 'Keys and places that lead to the compared value; the whole without it',
};

function orderSchema({ sorts, limits }: PolicyRules): Json {
  const directions = [...sorts.keys()].map((key) => [key, { type: 'string', enum: ['asc', 'desc'] }]);
  return { ...closed(Object.fromEntries(directions)), maxProperties: limits.orderBy };
}

function closed(properties: Json): Json {
  return { type: 'object', properties, additionalProperties: false };
}
