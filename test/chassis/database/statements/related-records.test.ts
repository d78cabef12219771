import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';

class Categories extends Repository<'category'> {
  protected readonly model = 'category';
}

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

/** What is asked of a product, also by the others of its category. */
const ofProducts = [
  { price: 1 },
  { price: 5, description: 'red' },
  { category: { products: { some: { price: { gt: 4 } } } } },
  { category: { is: { name: 'b', products: { every: { price: 7 } } } } },
  { category: { isNot: { products: { some: { description: '' } } } } },
].flatMap((filter) => [filter, { NOT: filter }]);
const words = ['some', 'none', 'every'];
/** What is asked of a category by its products, in each word. */
const ofCategories = words.flatMap((word) => ofProducts.map((filter) => ({ products: { [word]: filter } })));
/** A condition where it must hold, and where it may not. */
const places = (filter: object, name: string) => [
  filter,
  { name, ...filter },
  { NOT: filter },
  { NOT: { AND: [{ name }, filter] } },
  { OR: [{ name }, filter] },
  { name, OR: [{ name: 'none' }, filter] },
  { AND: [{ name }, { OR: [{ NOT: filter }, { name: 'none' }] }] },
];

describe.each(databaseProviders)('filters by related records on %s', (provider) => {
  let open: OpenOrm;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider, { DATABASE_JSON_READS: true });
    let count = 0;
    const shelf = (name: string, ...all: object[]) => ({ name, products: { create: all as never } });
    const product = (name: string, price: number, description = '') => {
      return { name, sku: `sku ${++count}`, price, description };
    };
    const shelves = [
      shelf('a', product('x', 1), product('y', 5, 'red'), product('x', 7, 'blue')),
      shelf('b', product('x', 7, 'red'), product('z', 7)),
      shelf('c', product('y', 5, 'red')),
      shelf('empty'),
    ];
    for (const data of shelves) await open.client.category.create({ data: data as never });
  });
  afterAll(() => open.close());

  it.each([
    ['categories', Categories, 'category', 'a', ofCategories],
    ['products', Products, 'product', 'x', ofCategories.map((category) => ({ category }))],
  ] as const)('find the same %s as the ORM does, wherever they stand', async (_name, Model, model, name, filters) => {
    const repository = new Model({ orm: open.client }) as Repository<'category'>;
    const orderBy = [{ id: 'asc' as const }];
    const delegate = open.client[model] as unknown as { findMany(query: object): Promise<object[]> };
    const found = [];
    for (const where of filters.flatMap((filter) => places(filter, name))) {
      const read = await repository.findMany({ model: '', select: { id: true }, orderBy, take: 100, where } as never);
      expect({ where, read }).toEqual({
        where,
        read: await delegate.findMany({ select: { id: true }, orderBy, where }),
      });
      found.push(read.length);
    }
    expect(new Set(found).size).toBeGreaterThan(3);
  });
});
