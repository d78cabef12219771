import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { OpenOrm } from '../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../src/chassis/database/repository.ts';
import { type FilterOperator, type Operator, operators } from '../../../src/chassis/query/operators.ts';
import { many } from '../../../src/chassis/query/policy/list-definition.ts';
import { type AnyListPolicy, ListPolicy, listPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import { openEmptyDatabase } from '../../support/empty-database.ts';
import { category, cursors, product } from './policies.ts';
import { reasonOf } from './refusal-of.ts';

const textOperators = Object.entries<Operator>(operators).flatMap(([name, { kinds }]) =>
  kinds.includes('text') ? [name as FilterOperator] : [],
);
const modes = ['default', 'insensitive'] as const;
const comparisons = textOperators.flatMap((name) =>
  modes.filter((mode) => (operators[name] as Operator).cost[mode]).map((mode) => [name, mode] as const),
);

const products: AnyListPolicy = listPolicy('Product', {
  record: product,
  filter: { sku: textOperators, price: ['equals', 'gte'], category: () => categories },
  sort: ['name', 'price', 'category.name'],
  include: { category: () => categories },
});
const categories: AnyListPolicy = listPolicy('Category', {
  record: category,
  filter: { name: ['equals', 'contains'], products: many(() => products) },
  sort: ['name'],
  include: { products: many(() => products) },
});

function condition(name: FilterOperator, mode: 'default' | 'insensitive', value = 'sku 7') {
  const operand = operators[name].operand === 'list' ? [value] : value;
  return { sku: { [name]: operand, ...((operators[name] as Operator).cost.insensitive && { mode }) } };
}

function search(query: Record<string, unknown>, policy = products) {
  const texts = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return policy.parseSearch(Object.fromEntries(texts), cursors);
}
const cost = (query: Record<string, unknown>, policy = products) =>
  search({ count: 'none', ...query }, policy).cost ?? 0;

const categoryId = '00000000-0000-4000-8000-000000000001';

describe('the cost of a query', () => {
  it.each(comparisons)('counts every comparison: %s with mode %s', (name, mode) => {
    const where = condition(name, mode);
    const one = cost({ where });
    expect(one).toBeGreaterThan(cost({}));
    expect(cost({ where: { AND: [where, where, where, where] } })).toBeGreaterThan(one);
    expect(cost({ where: { OR: [{ NOT: where }, where] } })).toBeGreaterThan(one);
  });

  it.each(comparisons.filter(([name]) => operators[name].operand === 'list'))(
    'counts every item of a list: %s with mode %s',
    (name, mode) => {
      const { sku } = condition(name, mode);
      const list = (length: number) => cost({ where: { sku: { ...sku, [name]: Array(length).fill('x') } } });
      expect(list(5) - list(1)).toBeGreaterThanOrEqual(4);
    },
  );

  it('counts each comparison of a Json field as a scan, which leaves no fewer records to order and to count', () => {
    const record = z.object({ id: z.string(), extra: z.json() });
    const policy: AnyListPolicy = new ListPolicy('Sample', { record, filter: { extra: ['equals', 'not'] } });
    const json = (where: object, count = 'none') => cost({ where, count }, policy) - cost({ count }, policy);
    expect(json({ extra: 'x' })).toBe(50);
    expect(json({ extra: { path: ['a'], equals: 'x', not: 'y' } })).toBe(100);
    expect(json({ extra: { path: ['a'], equals: 'x' } }, 'exact')).toBe(100);
  });

  it('counts the text that is searched for without case by its length', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(4);
    const text = (length: number) => cost({ where: condition('contains', 'insensitive', letters.slice(0, length)) });
    expect(text(100) - text(10)).toBe(360);
  });

  it.each(modes)('counts a text by how often it begins with the same, in mode %s', (mode) => {
    const text = (value: string) => cost({ where: condition('contains', mode, value) });
    expect(text('Xx'.repeat(10)) / text('abcdefghij'.repeat(2))).toBeGreaterThan(1.8);
    for (const ordinary of ['aardvark', 'banananas', 'wwww.some-name', '2000-01-01']) {
      const letters = 'abcdefghijklmnop'.slice(0, ordinary.length);
      expect(text(ordinary)).toBe(text(letters));
    }
    expect(reasonOf(() => text(`${'漢'.repeat(97)}x`))).toContain('search for fewer or shorter texts');
  });

  it('counts includes, depth, orders through a relation, page size, a deep offset and the total', () => {
    const least = cost({});
    expect(cost({ include: { category: true } })).toBeGreaterThan(least);
    expect(cost({ orderBy: { 'category.name': 'asc' } })).toBeGreaterThan(least + 100);
    expect(cost({ orderBy: { price: 'asc', name: 'asc' } })).toBeGreaterThan(cost({ orderBy: { price: 'asc' } }));
    expect(cost({ orderBy: { price: 'asc' } })).toBe(least);
    expect(cost({ pageSize: 100 })).toBeGreaterThan(least);
    expect(cost({ page: 5000 })).toBeGreaterThan(least + 100);
    expect(cost({ count: 'exact' })).toBeGreaterThan(least + 40);
    expect(cost({ where: { category: { name: 'x' } } })).toBeGreaterThan(cost({ where: { sku: 'x' } }));
    const few = cost({ include: { products: { take: 1 } } }, categories);
    const lots = cost({ include: { products: { take: 100 } } }, categories);
    expect(few).toBeGreaterThan(cost({ include: { category: true } }));
    expect(lots).toBeGreaterThan(few);
    expect(cost({ include: { products: { take: 1, where: { sku: 'x' } } } }, categories)).toBe(few + 1);
    expect(cost({ include: { products: { include: { category: true } } } }, categories)).toBeGreaterThan(
      cost({ include: { products: true } }, categories),
    );
  });

  it('counts lookups as comparisons with each record where another alternative leaves no index to find them by', () => {
    const skus = Array.from({ length: 80 }, (_, index) => ({ sku: `s${index}` }));
    const costOf = (where: object) => cost({ where, pageSize: 1 });
    const range = { price: { gte: 1 } };
    expect(costOf({ OR: [...skus, range] }) - costOf({ OR: skus })).toBe(4 + 80 * 3);
    expect(costOf({ NOT: { OR: skus } }) - costOf({ OR: skus })).toBe(80 * 3);
    // Nobody knows how many records have the one value.
    expect(costOf({ sku: 'x', OR: [...skus, range] }) - costOf({ OR: skus })).toBe(1 + 4 + 80 * 3);
    const names = skus.map(({ sku }) => ({ name: sku }));
    expect(costOf({ category: { NOT: { OR: names } } }) - costOf({ category: { OR: names } })).toBe(80 * 3);
  });

  it('counts a filter through a relation as costly where it is one of several alternatives, for which each record is looked at', () => {
    const related = { category: { name: 'x' } };
    const costOf = (where: object) => cost({ where, pageSize: 1 });
    const alternatives = [{ OR: [related, { price: 3 }] }, { OR: [{ AND: [related] }, { sku: { contains: 'x' } }] }];
    expect(alternatives.map((where) => costOf(where) > 100)).toEqual([true, true]);
    const negations = [{ NOT: related }, { category: { isNot: { name: 'x' } } }];
    expect(negations.map((where) => costOf(where) > 100)).toEqual([true, true]);
    expect(costOf({ category: { NOT: { name: 'x' } } })).toBeGreaterThan(100);
    const oneOf = (count: number) => ({ category: { OR: Array.from({ length: count }, () => ({ name: 'x' })) } });
    expect([3, 4].map((count) => costOf(oneOf(count)) > 100)).toEqual([false, true]);
    const others = [related, { OR: [related] }, { AND: [related, { price: 3 }] }];
    expect(others.map((where) => costOf(where) < 100)).toEqual([true, true, true]);
  });

  it('counts a filter that has to look at all related records as costly, also without a total, and one that finds some not', () => {
    const [some, none, every] = ['some', 'none', 'every'].map((word) => ({
      products: { [word]: { price: { gte: 1 } } },
    }));
    const costOf = (where?: object) => cost({ where, pageSize: 1 }, categories);
    expect(
      [none, every, { NOT: some }, { NOT: { OR: [{ name: 'x' }, some] } }].map((where) => costOf(where) > 100),
    ).toEqual(Array(4).fill(true));
    expect([some, { OR: [{ name: 'x' }, some] }].map((where) => costOf(where) < 100)).toEqual([true, true]);
  });

  it('counts a search through related records once, and again for each of their parents', () => {
    const searched = (pageSize: number, where: object) =>
      cost({ pageSize, include: { products: { take: 1, where } } }, categories);
    const extra = (pageSize: number) =>
      searched(pageSize, { sku: { contains: 'x' } }) - searched(pageSize, { sku: 'x' });
    expect([extra(1), extra(50)]).toEqual([109, 599]);
  });

  it('counts what filters related records for each of their parents, unless an index finds them', () => {
    const searched = (where: object, pageSize = 20) =>
      cost({ pageSize, include: { products: { take: 1, where } } }, categories);
    const plain = searched({ sku: 'x' });
    expect(searched({ OR: [{ sku: 'x' }, { AND: { sku: { in: ['y'] } } }] })).toBe(plain + 1);
    expect(searched({ price: { gte: 1 } })).toBe(plain - 1 + 4 + 20 * 10);
    expect(searched({ sku: 'x', OR: [{ price: { gte: 1 } }, { sku: 'y' }] })).toBe(plain + 4 + 1 + 20 * 10);
    expect(searched({ NOT: { sku: 'x' } })).toBe(plain + 20 * 10);
    // The database cannot know that nothing matches, and walks through all records for each parent.
    const nothing = { price: { gte: 11 }, NOT: { price: { gte: 5 } } };
    expect(searched(nothing)).toBe(plain - 1 + 8 + 20 * 50);
    expect(searched({ category: { NOT: { name: { contains: 'x' } } } })).toBeGreaterThan(20 * 50);
    expect(reasonOf(() => searched(nothing, 40))).toMatch(/^include: this request costs the database 20\d\d units/);
  });

  it('counts sorting and counting what an index finds by how much it looks for', () => {
    const found = (skus: number) => ({
      where: { sku: { in: Array.from({ length: skus }, (_, index) => `s${index}`) } },
      orderBy: { 'category.name': 'asc' },
      count: 'exact',
    });
    expect(cost(found(1))).toBeLessThan(10);
    expect(cost(found(50)) - cost({ ...found(50), orderBy: {} })).toBe(100 / 2);
  });

  it('is one for a record by its id, and about one for a lookup', () => {
    expect(products.parseGet({}).cost).toBe(1);
    expect(products.parseGet({ include: '{"category":true}' }).cost).toBeGreaterThan(1);
    expect(cost({ where: { sku: 'x' }, count: 'exact' })).toBeLessThan(10);
    expect(cost({ where: { OR: [{ sku: 'x' }, { sku: 'y' }] }, count: 'exact' })).toBeLessThan(10);
    expect(cost({ where: { NOT: { sku: 'x' } }, count: 'exact' })).toBeGreaterThan(40);
    expect(products.parseFind({}).cost).toBe(51);
  });

  it('beyond its bound is a 400 that names the costly parameter, the sum, its parts and the bound', () => {
    const where = { OR: Array(5).fill({ sku: { equals: 'x'.repeat(100), mode: 'insensitive' } }) };
    expect(reasonOf(() => search({ where, orderBy: { 'category.name': 'asc' } }))).toBe(
      'where: this request costs the database 5120 units (where 5000, orderBy 120), at most 1500 are allowed; ' +
        'search for fewer or shorter texts, include less, or say count=none',
    );
    const include = {
      products: { where: { OR: Array(5).fill(condition('contains', 'insensitive', 'x'.repeat(90))) } },
    };
    expect(reasonOf(() => search({ include }, categories))).toMatch(/^include: this request costs/);
    const bounded = listPolicy('Product', { record: product, limits: { cost: 200 }, sort: ['name'] });
    expect(reasonOf(() => search({ page: 100_000 }, bounded))).toMatch(/^page: .* at most 200 are allowed/);
    expect(() => bounded.parseSearchOptions({ page: 100_000 })).toThrow('Invalid request data');
  });

  it('never alone makes a page too deep, so that the total is right past the last page', () => {
    expect(() => search({ page: 21_474_836, pageSize: 100, orderBy: { 'category.name': 'asc' } })).not.toThrow();
  });
});

describe('on PostgreSQL', () => {
  const records = 5000;
  let open: OpenOrm;

  beforeAll(async () => {
    open = await openEmptyDatabase('postgresql', { DATABASE_POOL_SIZE: 1 });
    await open.client.category.create({ data: { id: categoryId, name: 'all' } });
    const rows = Array.from({ length: records }, (_, n) => ({
      sku: `sku ${n}`,
      name: `${n}`,
      description: '',
      price: n,
    }));
    await open.client.product.createMany({ data: rows.map((row) => ({ ...row, categoryId })) });
    await open.client.$executeRawUnsafe('ANALYZE products');
  });
  afterAll(() => open.close());

  class Products extends Repository<'product'> {
    protected readonly model = 'product';
  }

  /** How many records and index entries the database has read in all; the pool has one connection, which knows. */
  async function recordsRead(): Promise<number> {
    const count = `SELECT (seq_tup_read + idx_tup_fetch)::int AS read
      FROM pg_stat_user_tables WHERE relname = 'products'`;
    await open.client.$executeRawUnsafe('SELECT pg_stat_force_next_flush()');
    const [row] = await open.client.$queryRawUnsafe<{ read: number }[]>(count);
    return row?.read ?? Number.NaN;
  }

  it.each(comparisons)('%s with mode %s reads as many records as its cost says', async (name, mode) => {
    const repository = new Products({ orm: open.client });
    const before = await recordsRead();
    await repository.count(search({ where: condition(name, mode) }).where);
    const read = (await recordsRead()) - before;
    const kind = (operators[name] as Operator).cost[mode];
    if (kind === 'lookup') expect(read).toBeLessThanOrEqual(10);
    // The beginning of a text is found by an index under some collations.
    else if (kind === 'search' && name !== 'startsWith') expect(read).toBe(records);
    else expect(read).toBeLessThanOrEqual(records);
  });
});
