import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { roleVariants } from '../../../../src/chassis/query/policy/role-variants.ts';

const record = z.object({ id: z.uuid(), name: z.string(), margin: z.int32(), risk: z.string() });
const definition = {
  record,
  filter: { name: ['equals'], margin: ['gte'], risk: ['equals'] },
  sort: ['name', 'margin'],
  search: ['name', 'risk'],
};

describe('fields of a list policy that are for a role', () => {
  it('are nowhere in what everybody sees, and in what callers with the role see', () => {
    const { everybody, variants } = roleVariants('Thing', { ...definition, only: { margin: 'sales', risk: 'admin' } });
    const shown = (one: typeof everybody) => [
      Object.keys(one.record.shape),
      Object.keys(one.filter ?? {}),
      one.sort,
      one.search,
    ];
    expect(shown(everybody)).toEqual([['id', 'name'], ['name'], ['name'], ['name']]);
    expect(variants.map(({ roles }) => roles)).toEqual([['admin', 'sales'], ['admin'], ['sales']]);
    const [both, admin, sales] = variants.map((variant) => shown(variant.definition));
    expect(both).toEqual([
      ['id', 'name', 'margin', 'risk'],
      ['name', 'margin', 'risk'],
      ['name', 'margin'],
      ['name', 'risk'],
    ]);
    expect(admin).toEqual([['id', 'name', 'risk'], ['name', 'risk'], ['name'], ['name', 'risk']]);
    expect(sales).toEqual([['id', 'name', 'margin'], ['name', 'margin'], ['name', 'margin'], ['name']]);
  });

  it('leave a definition without them as it is', () => {
    expect(roleVariants('Thing', definition)).toEqual({ everybody: definition, variants: [] });
  });

  it.each([
    ['unknown', { weight: 'admin' }],
    ['of too many roles', { id: 'a', name: 'b', margin: 'c', risk: 'd' }],
  ])('are refused where they are %s', (_why, only) => {
    expect(() => roleVariants('Thing', { ...definition, only })).toThrow(/The list policy of Thing cannot work: only/);
  });
});
