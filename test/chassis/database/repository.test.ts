import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../src/chassis/database/repository.ts';
import type { FindQuery, SearchQuery } from '../../../src/chassis/query/query-types.ts';
import { databaseProviders, openEmptyDatabase } from '../../support/empty-database.ts';
import { raised } from '../../support/raised.ts';

class CategoryRepository extends Repository<'category'> {
  protected readonly model = 'category';

  /** What a module's author would add, with the client itself. */
  rename(from: string, to: string): Promise<unknown> {
    return this.orm.category.update({ where: { name: from }, data: { name: to } });
  }
}

class ProductRepository extends Repository<'product'> {
  protected readonly model = 'product';
}

const select = { id: true, name: true };

function find(more: Partial<FindQuery> = {}): FindQuery {
  return { model: 'Category', select, orderBy: [{ name: 'asc' }, { id: 'asc' }], take: 1000, ...more };
}

function search(page: number, pageSize: number, more: Partial<SearchQuery> = {}): SearchQuery {
  const skip = (page - 1) * pageSize;
  return { ...find(), take: pageSize, page, pageSize, skip, count: 'exact', ...more };
}

describe.each(databaseProviders)('Repository on %s', (provider) => {
  let open: OpenOrm;
  let categories: CategoryRepository;
  let products: ProductRepository;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider);
    categories = new CategoryRepository({ orm: open.client });
    products = new ProductRepository({ orm: open.client });
  });

  afterAll(() => open.close());

  beforeEach(async () => {
    await open.client.product.deleteMany();
    await open.client.category.deleteMany();
    await open.client.category.createMany({ data: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })) });
  });

  const names = (records: readonly { name: string }[]) => records.map(({ name }) => name);

  it('refuses to set a record that is not there in the place of others, which stay', async () => {
    const { id } = await categories.create({ name: 'full' });
    const product = await products.create({ sku: 's', name: '', description: '', price: 1, categoryId: id });
    const set = (other: string) => () =>
      open.client.category.update({ where: { id }, data: { products: { set: [{ id: other }] } } });
    const refused = await raised(async () => await set('00000000-0000-7000-8000-000000000000')());
    expect(refused).toMatchObject({ statusCode: 409, details: { fields: ['products'] } });
    await set(product.id)();
    expect(await open.client.product.count({ where: { categoryId: id } })).toBe(1);
  });

  it('gives pages with a total that is right on every page and past the last one', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (const [page, expected] of [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
        [3, ['e']],
        [4, []],
      ] as const) {
        const result = await categories.findPage(search(page, 2));
        expect(result).toMatchObject({ page, pageSize: 2, total: 5 });
        expect(names(result.data)).toEqual(expected);
      }
    }
    expect(await categories.findPage(search(1, 10, { count: 'none' }))).toMatchObject({ total: null });
  });

  it('counts with the same filter as the page, and zero for a filter that nothing matches', async () => {
    const where = { name: { in: ['A', 'c'], mode: 'insensitive' } };
    const page = await categories.findPage(search(1, 1, { where, countWhere: where }));
    expect(page).toMatchObject({ total: 2, data: [{ name: 'a' }] });
    const none = { name: 'nothing' };
    expect(await categories.findPage(search(1, 1, { where: none, countWhere: none }))).toMatchObject({
      total: 0,
      data: [],
    });
    expect(await categories.count(where)).toBe(2);
  });

  it('reads of each record as many related records as were asked for, in their order, and no more', async () => {
    const owners = await open.client.category.findMany({ orderBy: { name: 'asc' }, take: 2 });
    for (const [index, { id: categoryId }] of owners.entries()) {
      const data = Array.from({ length: 5 }, (_, price) => {
        return { sku: `${index}-${price}`, name: 'x', description: '', price, categoryId };
      });
      await open.client.product.createMany({ data });
    }
    const related = { where: { price: { gte: 1 } }, orderBy: [{ price: 'desc' }], take: 2, select: { sku: true } };
    const wanted = { name: true, products: related };
    const [first, second, third] = await categories.findMany(find({ select: wanted }));
    expect(first).toEqual({ name: 'a', products: [{ sku: '0-4' }, { sku: '0-3' }] });
    expect(second).toEqual({ name: 'b', products: [{ sku: '1-4' }, { sku: '1-3' }] });
    expect(third).toEqual({ name: 'c', products: [] });
    expect(Object.isFrozen((first as unknown as { products: object[] }).products[0])).toBe(true);
    const id = owners[0]?.id ?? '';
    expect(await categories.findById(id, wanted)).toEqual(first);
    const inside = await categories.unitOfWork(() => categories.findMany(find({ select: wanted, take: 1 })));
    expect(inside).toEqual([first]);
  });

  it('shares equal reads of one turn and keeps different ones apart', async () => {
    const [first, second, other] = await Promise.all([
      categories.findMany(find()),
      categories.findMany(find()),
      categories.findMany(find({ where: { name: 'a' } })),
    ]);
    expect(first).toBe(second);
    expect(names(other)).toEqual(['a']);
  });

  it('freezes the records that it shares', async () => {
    const [record] = await categories.findMany(find({ select: { name: true, products: { select: { id: true } } } }));
    expect(Object.isFrozen(record)).toBe(true);
    expect(() => Object.assign(record as object, { name: 'x' })).toThrow(TypeError);
  });

  it('lets a client read what it wrote before', async () => {
    const writers = Array.from({ length: 20 }, async (_, index) => {
      await categories.create({ name: `w${index}` });
      expect(names(await categories.findMany(find()))).toContain(`w${index}`);
    });
    await Promise.all(writers);
  });

  it('gives each caller of a failed shared read an exception of its own', async () => {
    const bad = () => raised(() => categories.findMany(find({ where: { nothing: 1 } })));
    const [first, second] = await Promise.all([bad(), bad()]);
    expect(first).toMatchObject({ statusCode: 500, isOperational: false });
    expect(second).toMatchObject({ statusCode: 500, isOperational: false, message: first.message });
    expect(first).not.toBe(second);
    expect(first.cause).toBe(second.cause);
  });

  it('creates, reads, updates and deletes a record', async () => {
    const created = await categories.create({ name: 'new' });
    expect(created).toMatchObject({ name: 'new', createdAt: expect.any(Date) });
    expect(await categories.getById(created.id, { name: true })).toEqual({ name: 'new' });
    expect(await categories.update(created.id, { name: 'newer' }, { name: true })).toEqual({ name: 'newer' });
    await categories.delete(created.id);
    expect(await categories.findById(created.id)).toBeNull();
    const missing = await raised(() => categories.getById(created.id));
    expect(missing).toMatchObject({ name: 'NotFoundException', statusCode: 404, message: 'Category not found' });
  });

  it('raises exceptions of the chassis, also from methods that a module adds', async () => {
    expect(await raised(() => categories.create({ name: 'a' }))).toMatchObject({ statusCode: 409 });
    expect(await raised(() => categories.rename('nothing', 'x'))).toMatchObject({ statusCode: 404 });
    expect(await raised(() => categories.rename('a', 'b'))).toMatchObject({ statusCode: 409 });
    const inUnit = () => categories.unitOfWork(() => categories.rename('a', 'b'));
    expect(await raised(inUnit)).toMatchObject({ statusCode: 409 });
  });

  it('takes only models, fields and types that exist', () => {
    // @ts-expect-error there is no such model
    class Misspelt extends Repository<'prodct'> {
      protected readonly model = 'prodct';
    }
    expect(Misspelt).toBeDefined();
    // @ts-expect-error a field is missing
    const incomplete = () => products.create({ sku: 'x', name: 'x', description: '' });
    // @ts-expect-error there is no such field
    const misspelt = () => products.update('id', { nmae: 'x' });
    const optional: { name?: string | undefined } = {};
    expect([incomplete, misspelt, () => categories.update('id', optional)]).toHaveLength(3);
  });
});

describe('a repository that is made by hand', () => {
  it.each([
    ['nothing', {}],
    ['another object', { orm: {} }],
  ])('says what it takes when it gets %s for a database', (found, cradle) => {
    expect(() => new CategoryRepository(cradle as { orm: OpenOrm['client'] })).toThrow(
      `Expected the database client of a service, \`orm\` of its container, found ${found}; take repositories`,
    );
  });
});
