import type { AnyListPolicy } from '../../src/chassis/index.ts';
import type { Query } from '../../src/chassis/testing/test-client.ts';

type Description = ReturnType<AnyListPolicy['describe']>;

/** A question that a list's policy allows: the path behind the list's own, and the query. */
export interface TenantProbe {
  readonly suffix: string;
  readonly query: Query;
}

/** Everything that may be included, to this depth. */
function includes(policy: Description, left: number): Record<string, unknown> {
  const entries = Object.entries(policy.includes).flatMap(([name, rule]) => {
    const target = rule.describe();
    // The policy allows no relation to many below another relation.
    const below = left > 1 ? includesOfOne(target, left - 1) : {};
    return [[name, Object.keys(below).length > 0 ? { include: below } : true]];
  });
  return Object.fromEntries(entries);
}

function includesOfOne(policy: Description, left: number): Record<string, unknown> {
  const single = Object.entries(policy.includes).filter(([, rule]) => !rule.many);
  return Object.fromEntries(
    single.map(([name, rule]) => {
      const below = left > 1 ? includesOfOne(rule.describe(), left - 1) : {};
      return [name, Object.keys(below).length > 0 ? { include: below } : true];
    }),
  );
}

/** A filter over each relation and each text, that the marks of a tenant would answer. */
function filters(policy: Description, mark: string, left: number, isTop = true): object[] {
  return Object.entries(policy.filters).flatMap(([name, rule]): object[] => {
    if ('describe' in rule) {
      // The policy allows no relation to many below another relation.
      if (rule.many && !isTop) return [];
      const words = rule.many ? ['some', 'every', 'none'] : ['is', 'isNot'];
      const inner = left > 0 ? filters(rule.describe(), mark, left - 1, false) : [];
      return words.flatMap((word) => [{}, ...inner].map((filter) => ({ [name]: { [word]: filter } })));
    }
    if (rule.operators.includes('contains')) return [{ [name]: { contains: mark } }];
    return rule.kind === 'text' ? [{ [name]: { equals: mark } }] : [];
  });
}

/** Every question that a policy allows: each order, each relation, each filter over a relation, on each kind of list. */
export function tenantProbes(list: AnyListPolicy, mark: string): TenantProbe[] {
  const policy = list.describe();
  const include = includes(policy, 2);
  const orders = policy.sorts.flatMap((key) => ['asc', 'desc'].map((direction) => ({ [key]: direction })));
  const asked: Query[] = [
    {},
    { include },
    ...Object.entries(include).map(([name, part]) => ({ include: { [name]: part } as object })),
    ...orders.map((orderBy) => ({ orderBy, include })),
    ...(policy.search ? [{ q: mark }] : []),
    ...filters(policy, mark, 1).flatMap((where) => [{ where }, { where: { NOT: where } }]),
  ];
  const paged = [...asked, ...orders.map((orderBy) => ({ orderBy, cursor: '', pageSize: 1 }))];
  return [
    ...asked.map((query) => ({ suffix: '', query })),
    ...paged.map((query) => ({ suffix: '/paginated', query: { pageSize: 2, ...query } as Query })),
  ];
}
