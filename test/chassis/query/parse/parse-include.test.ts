import { describe, expect, it } from 'vitest';
import { many } from '../../../../src/chassis/query/policy/list-definition.ts';
import { type AnyListPolicy, listPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { category, categoryList, productList, userList } from '../policies.ts';
import { reasonOf, refusalOf } from '../refusal-of.ts';

const select = (include: unknown, policy: AnyListPolicy = productList) =>
  policy.parseGet({ include: JSON.stringify(include) }).select;
const refused = (include: unknown, policy: AnyListPolicy = productList) => refusalOf(() => select(include, policy));
const whyRefused = (include: unknown, policy: AnyListPolicy = productList) => reasonOf(() => select(include, policy));

const own = { id: true, sku: true, name: true, price: true, createdAt: true };
const categoryFields = { id: true, name: true };

describe('include', () => {
  it('selects the fields of the record and nothing else', () => {
    expect(productList.parseGet({}).select).toEqual(own);
    expect(productList.select).toEqual(own);
    expect(userList.parseFind({ include: '{"profile":true}' }).select).not.toHaveProperty('passwordHash');
  });

  it('selects the fields of a related record by its own policy', () => {
    expect(select({ category: true })).toEqual({ ...own, category: { select: categoryFields } });
    expect(select({ category: {} })).toEqual({ ...own, category: { select: categoryFields } });
    expect(select({})).toEqual(own);
  });

  it('always bounds and orders a relation to many', () => {
    const products = { select: own, orderBy: [{ id: 'asc' }], take: 20 };
    expect(select({ products: true }, categoryList)).toEqual({ ...categoryFields, products });
  });

  it('takes where, orderBy, take, include and select on a relation to many', () => {
    const options = {
      where: { createdAt: { gte: '2026-01-01' } },
      orderBy: { price: 'desc', 'category.name': 'asc' },
      take: 5,
      select: { name: true, price: false },
      include: { category: { select: { name: true } } },
    };
    expect(select({ products: options }, categoryList)).toEqual({
      ...categoryFields,
      products: {
        where: { createdAt: { gte: new Date('2026-01-01') } },
        orderBy: [{ price: 'desc' }, { category: { name: 'asc' } }, { id: 'asc' }],
        take: 5,
        select: { name: true, category: { select: { name: true } } },
      },
    });
  });

  it('takes only include and select on a relation to one', () => {
    for (const option of ['where', 'orderBy', 'take', 'skip', 'cursor', 'omit']) {
      expect(whyRefused({ category: { [option]: 1 } })).toContain(
        `"${option}" is not allowed here; expected one of include, select`,
      );
    }
    refused({ products: { skip: 1 } }, categoryList);
  });

  it.each([0, -1, 1.5, 101, '5', null])('refuses a take of %j', (take) => {
    expect(whyRefused({ products: { take } }, categoryList)).toContain('expected an integer from 1 to 100');
  });

  it.each([
    [[]],
    [true],
    ['category'],
    [{ category: false }],
    [{ category: null }],
    [{ category: 'x' }],
    [{ category: { select: true } }],
  ])('refuses %j', (include) => {
    refused(include);
  });

  it('selects only readable fields, at least one of them', () => {
    expect(whyRefused({ profile: { select: { userId: true } } }, userList)).toContain('"userId" is not allowed here');
    refused({ category: { select: { name: 1 } } });
    refused({ category: { select: { products: true } } });
    expect(whyRefused({ category: { select: { name: false } } })).toContain('at least one field');
    expect(whyRefused({ category: { select: {} } })).toContain('at least one field');
  });

  it('bounds the depth', () => {
    const deep = { profile: { include: { user: { include: { profile: true } } } } };
    expect(() => select(deep, userList)).not.toThrow();
    const deeper = { profile: { include: { user: { include: { profile: { include: { user: true } } } } } } };
    expect(whyRefused(deeper, userList)).toContain('at most 3 relations in a row');
  });

  it('takes a relation to many at the top only, where each record of the list costs one query', () => {
    expect(whyRefused({ category: { include: { products: true } } })).toContain('cannot be included below');
    const where = { products: { where: { category: { products: { none: {} } } } } };
    expect(whyRefused(where, categoryList)).toContain('cannot be asked about below');
    expect(categoryList.parseFind({ include: '{"products":true}' }).take).toBe(100);
    expect(categoryList.parseFind({}).take).toBe(1000);
  });

  it('bounds the related records that one request may ask for, over all records of the page', () => {
    const few = listPolicy('Category', {
      record: category,
      include: { products: many(() => productList) },
      limits: { records: 500 },
    });
    const include = JSON.stringify({ products: { take: 10 } });
    expect(few.parseSearchOptions({ pageSize: 50, include: { products: { take: 10 } } }).take).toBe(50);
    expect(reasonOf(() => few.parseFind({ include }))).toContain(
      'asks for up to 1000 related records, at most 500 are allowed; lower take or pageSize',
    );
  });

  it('keeps the bounds that a policy sets', () => {
    const small = listPolicy('Category', {
      record: category,
      include: { products: many(() => productList) },
      limits: { take: 3, defaultTake: 2, findLimit: 7 },
    });
    expect(select({ products: true }, small)).toMatchObject({ products: { take: 2 } });
    expect(whyRefused({ products: { take: 4 } }, small)).toContain('from 1 to 3');
    expect(small.parseFind({}).take).toBe(7);
  });
});
