import { describe, expect, it } from 'vitest';
import type { AnyListPolicy } from '../../src/chassis/index.ts';
import { categoryList, productList } from '../../src/modules/catalog/catalog.schema.ts';
import { profileList, publicUserList } from '../../src/modules/users/user.schema.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { readModels } from '../support/models.ts';

const app = (await bootTestApp()).as('user');
const models = readModels();
const depth = 3;
const madeUp = 'zzMadeUpName';

const lists: Record<string, AnyListPolicy> = {
  '/api/v1/users': publicUserList,
  '/api/v1/profiles': profileList,
  '/api/v1/categories': categoryList,
  '/api/v1/products': productList,
};

type Description = ReturnType<AnyListPolicy['describe']>;
/** A query that uses one name at one place. */
type Probe = { place: string; query: (name: string) => Record<string, object> };

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

async function answerTo(path: string, probe: Probe, name: string): Promise<{ status: number; body: string }> {
  const { status, body } = await app.get(path, probe.query(name));
  const { timestamp: _moment, ...rest } = body;
  return { status, body: JSON.stringify(rest) };
}

describe.each(Object.entries(lists))('%s', (path, policy) => {
  const description = policy.describe();
  const probes = [
    ...filterProbes(description, (filter) => filter, depth),
    ...includeProbes(description, (include) => include, depth),
    ...orderProbes(description),
  ];

  it('declares less than the model has, so that there is something to keep', () => {
    expect(probes.flatMap(([, names]) => names).length).toBeGreaterThan(0);
  });

  it.each(probes.filter(([, names]) => names.length > 0).map(([probe, names]) => [probe.place, probe, names] as const))(
    'answers an undeclared name in the %s as one that does not exist',
    async (_place, probe, names) => {
      const unknown = await answerTo(path, probe, madeUp);
      expect(unknown).toMatchObject({ status: 400, body: expect.stringContaining('"success":false') });
      for (const name of names) {
        const expected = { ...unknown, body: unknown.body.replaceAll(madeUp, name) };
        expect(await answerTo(path, probe, name), name).toEqual(expected);
      }
    },
  );

  it('gives records with the fields of the policy and no others', async () => {
    const [record] = await app.get(path).expectData();
    expect(Object.keys(record).sort()).toEqual([...description.fields].sort());
  });
});
