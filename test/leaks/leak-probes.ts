import type { AnyListPolicy } from '../../src/chassis/index.ts';
import { readModels } from '../support/models.ts';

const models = readModels();
const depth = 3;

type Description = ReturnType<AnyListPolicy['describe']>;
/** A query that uses one name at one place. */
export type Probe = { place: string; query: (name: string) => Record<string, object> };

/** The names that a model has and a place does not declare. */
function undeclared(model: string, declared: Iterable<string>): string[] {
  const { fields, relations } = models.get(model) ?? { fields: [], relations: [] };
  const allowed = new Set(declared);
  return [...fields, ...relations].filter((name) => !allowed.has(name));
}

/** Every place where a name of the policy's model can stand in a filter, down through its relations. */
function filterProbes(policy: Description, wrap: (filter: object) => object, left: number): [Probe, string[]][] {
  const place = `where of ${policy.model}, ${depth - left} relations deep`;
  const here: [Probe, string[]] = [
    { place, query: (name) => ({ where: wrap({ [name]: { equals: 'x' } }) }) },
    undeclared(policy.model, Object.keys(policy.filters)),
  ];
  const below = Object.entries(policy.filters).flatMap(([relation, rule]) => {
    if (!('describe' in rule) || left === 0) return [];
    const inner = (filter: object) => wrap({ [relation]: rule.many ? { some: filter } : filter });
    return filterProbes(rule.describe(), inner, left - 1);
  });
  return [here, ...below];
}

/** Every place in an include: relations, and where, orderBy and select inside. */
function includeProbes(policy: Description, wrap: (include: object) => object, left: number): [Probe, string[]][] {
  const at = `of ${policy.model}, ${depth - left} relations deep`;
  const here: [Probe, string[]] = [
    { place: `include ${at}`, query: (name) => ({ include: wrap({ [name]: true }) }) },
    undeclared(policy.model, Object.keys(policy.includes)),
  ];
  const below = Object.entries(policy.includes).flatMap(([relation, rule]) => {
    if (left === 0) return [];
    const target = rule.describe();
    const inside = (nested: object) => wrap({ [relation]: nested });
    const own: [Probe, string[]][] = [
      [
        {
          place: `select of ${target.model} ${at}`,
          query: (name) => ({ include: inside({ select: { [name]: true } }) }),
        },
        undeclared(target.model, [...target.fields, ...Object.keys(target.includes)]),
      ],
    ];
    if (rule.many) {
      own.push(
        [
          { place: `where in include ${at}`, query: (name) => ({ include: inside({ where: { [name]: 'x' } }) }) },
          undeclared(target.model, Object.keys(target.filters)),
        ],
        [
          { place: `orderBy in include ${at}`, query: (name) => ({ include: inside({ orderBy: { [name]: 'asc' } }) }) },
          undeclared(target.model, target.sorts),
        ],
      );
    }
    return [...own, ...includeProbes(target, (include) => inside({ include }), left - 1)];
  });
  return [here, ...below];
}

function orderProbes(policy: Description): [Probe, string[]][] {
  const related = [...models.keys()].flatMap((model) => models.get(model)?.fields ?? []);
  const dotted = (models.get(policy.model)?.relations ?? []).flatMap((relation) =>
    related.map((field) => `${relation}.${field}`),
  );
  const forbidden = [...undeclared(policy.model, policy.sorts), ...dotted.filter((key) => !policy.sorts.includes(key))];
  return [
    [
      { place: `orderBy of ${policy.model}`, query: (name) => ({ orderBy: { [name]: 'asc' } }) },
      [...new Set(forbidden)],
    ],
  ];
}

/** Every place where a list takes names, each with the names of the model that its policy does not declare. */
export function leakProbes(policy: AnyListPolicy): [Probe, string[]][] {
  const description = policy.describe();
  return [
    ...filterProbes(description, (filter) => filter, depth),
    ...includeProbes(description, (include) => include, depth),
    ...orderProbes(description),
  ];
}
