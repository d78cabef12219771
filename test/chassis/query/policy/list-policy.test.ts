import { describe, expect, it } from 'vitest';
import { cursors, productList } from '../policies.ts';
import { reasonOf, refusalOf } from '../refusal-of.ts';

const search = (query: Record<string, string>) => productList.parseSearch(query, cursors);

describe('a list policy', () => {
  it('makes a complete query of no parameters', () => {
    expect(search({})).toMatchObject({
      model: 'Product',
      select: productList.select,
      orderBy: [{ id: 'asc' }],
      take: 10,
      skip: 0,
      page: 1,
      pageSize: 10,
      count: 'exact',
    });
    expect(search({})).not.toHaveProperty('where');
    expect(productList.parseFind({}).take).toBe(1000);
    expect(productList.parseGet({})).toEqual({ model: 'Product', select: productList.select, cost: 1, records: 1 });
  });

  it('skips to the page and counts by the same filter', () => {
    expect(search({ page: '3', pageSize: '20', where: '{"sku":"x"}', count: 'none' })).toMatchObject({
      skip: 40,
      take: 20,
      count: 'none',
      where: { sku: 'x' },
      countWhere: { sku: 'x' },
    });
  });

  it('takes on each request only the parameters that it has', () => {
    expect(reasonOf(() => productList.parseGet({ where: '{}' }))).toContain('expected include');
    expect(reasonOf(() => productList.parseFind({ page: '1' }))).toContain('expected include, orderBy, where');
    expect(reasonOf(() => search({ limit: '1' }))).toContain(
      'expected page, pageSize, include, orderBy, where, cursor, count',
    );
    for (const query of [
      { count: 'all' },
      { page: '0' },
      { pageSize: '101' },
      { pageSize: '1e1' },
      { page: '214748365' },
    ]) {
      refusalOf(() => search(query));
    }
  });

  it('clamps the page of a program and holds its filter to the policy', () => {
    const query = productList.parseSearchOptions({
      page: -1,
      pageSize: 500,
      where: { createdAt: { gte: new Date(0) } },
      orderBy: { name: 'desc' },
    });
    expect(query).toMatchObject({
      page: 1,
      pageSize: 100,
      where: { createdAt: { gte: new Date(0) } },
      orderBy: [{ name: 'desc' }, { id: 'desc' }],
    });
    refusalOf(() => productList.parseSearchOptions({ where: { secret: 1 } }));
  });

  it('describes what it allows', () => {
    const description = productList.describe();
    expect(description).toMatchObject({
      model: 'Product',
      fields: ['id', 'sku', 'name', 'price', 'createdAt'],
      filters: {
        sku: { kind: 'text', nullable: false, operators: ['equals', 'in'] },
        category: { model: 'Category', many: false },
      },
      sorts: ['name', 'price', 'createdAt', 'category.name'],
    });
    expect(description.includes.category?.describe().includes.products?.describe().model).toBe('Product');
  });
});
