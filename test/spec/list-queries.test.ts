import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  BadRequestException,
  buildFindOptions,
  buildSearchOptions,
  defaultQuerySchemas,
  sanitizeSearchOptions,
  validateParam,
} from '../../src/chassis/index.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const products = '/api/v1/products';
const paginated = `${products}/paginated`;

interface Product {
  id: string;
  sku: string;
  name: string;
  price: number;
  createdAt: string;
  category: { id: string; name: string };
}

async function find(query: Record<string, object>): Promise<Product[]> {
  return app.get(products, query).expectData();
}

/** Expects a 400 whose details name the parameter (spec.md: Errors, body rule 5). */
async function expectRefused(path: string, query: Record<string, string | number | object>, parameter: string): Promise<void> {
  const { body } = await app.get(path, query).expectError(400, 'Invalid request data');
  expect(body.details.issues[0].path).toMatch(new RegExp(`^${parameter}`));
}

describe('spec.md: Query parameters of list requests', () => {
  it('rule 1: the find builder returns include, orderBy and where, each parsed from its parameter', () => {
    expect(buildFindOptions({ include: '{"a":true}', orderBy: '{"b":"asc"}', where: '{"c":1}' })).toEqual({
      include: { a: true },
      orderBy: { b: 'asc' },
      where: { c: 1 },
    });
  });

  it('rule 2: the search builder returns SearchOptions', () => {
    expect(buildSearchOptions({ page: '2', pageSize: '5', where: '{"c":1}' })).toMatchObject({
      page: 2,
      pageSize: 5,
      where: { c: 1 },
    });
  });

  it.each(['include', 'orderBy', 'where'])('rule 3: %s that is no JSON, or fails its schema, is a BadRequestException', async (name) => {
    expect(() => buildFindOptions({ [name]: '{' })).toThrow(BadRequestException);
    expect(() => buildFindOptions({ [name]: '[1]' })).toThrow(BadRequestException);
    await expectRefused(products, { [name]: '{' }, name);
  });

  it('rule 4: single-parameter validation returns the parsed value or raises the same exception', () => {
    expect(validateParam('{"a":1}', z.object({ a: z.number() }))).toEqual({ a: 1 });
    expect(() => validateParam('{"a":"x"}', z.object({ a: z.number() }))).toThrow(BadRequestException);
    expect(() => validateParam('nonsense', z.any())).toThrow(BadRequestException);
  });

  it('rule 5: omitted page and pageSize take the defaults 1 and 10; unknown keys are refused', async () => {
    expect((await app.get(paginated)).body).toMatchObject({ page: 1, pageSize: 10 });
    expect(defaultQuerySchemas.paginationSchema.safeParse({ page: 1, pageSize: 10, extra: 1 }).success).toBe(false);
    await expectRefused(paginated, { extra: 1 }, 'extra');
  });

  it.each([
    { page: 0 },
    { page: -1 },
    { page: 'x' },
    { page: '1.5' },
    { page: '1e3' },
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 'x' },
  ])('refuses %j', async (query) => {
    await expectRefused(paginated, query as Record<string, string>, Object.keys(query)[0] as string);
  });

  it('page and pageSize are no find parameters', async () => {
    await expectRefused(products, { page: 1 }, 'page');
  });

  it('any of the four schemas may be replaced', () => {
    const paginationSchema = z.strictObject({ page: z.int().max(1000), pageSize: z.int().max(50) });
    const whereSchema = z.strictObject({ name: z.string() }).optional();
    expect(() => buildSearchOptions({ pageSize: '51' }, { paginationSchema })).toThrow(BadRequestException);
    expect(() => buildSearchOptions({ page: '1001' }, { paginationSchema })).toThrow(BadRequestException);
    expect(() => buildFindOptions({ where: '{"other":1}' }, { whereSchema })).toThrow(BadRequestException);
    expect(buildFindOptions({ where: '{"name":"x"}' }, { whereSchema }).where).toEqual({ name: 'x' });
  });
});

describe('spec.md: SearchOptions operators, against the database', () => {
  it('equals, in and not', async () => {
    const [first, second, third] = await find({});
    const skus = [first?.sku, second?.sku] as string[];
    expect((await find({ where: { sku: { in: skus } } })).map(({ sku }) => sku).sort()).toEqual(skus.sort());
    expect(await find({ where: { sku: third?.sku as never } })).toHaveLength(1);
    expect(await find({ where: { sku: { equals: third?.sku } } })).toHaveLength(1);
    const others = await find({ where: { price: { not: first?.price } } });
    expect(others.some(({ price }) => price === first?.price)).toBe(false);
  });

  it('gte and lte', async () => {
    const found = await find({ where: { price: { gte: 5000, lte: 50_000 } } });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ price }) => price >= 5000 && price <= 50_000)).toBe(true);
  });

  it('contains, with mode default and insensitive', async () => {
    const [sample] = await find({});
    const word = (sample?.name ?? '').slice(0, 4);
    const swapped = word.toUpperCase() === word ? word.toLowerCase() : word.toUpperCase();
    expect((await find({ where: { name: { contains: word } } })).every(({ name }) => name.includes(word))).toBe(true);
    expect(await find({ where: { name: { contains: swapped, mode: 'default' } } })).toEqual([]);
    expect((await find({ where: { name: { contains: swapped, mode: 'insensitive' } } })).length).toBeGreaterThan(0);
  });

  it('contains takes % and _ literally', async () => {
    expect(await find({ where: { name: { contains: '%' } } })).toEqual([]);
    expect(await find({ where: { name: { contains: '_' } } })).toEqual([]);
  });

  it('OR and AND', async () => {
    const found = await find({ where: { OR: [{ price: { lte: 1000 } }, { price: { gte: 900_000 } }] } });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ price }) => price <= 1000 || price >= 900_000)).toBe(true);
    expect(await find({ where: { AND: [{ price: { lte: 1000 } }, { price: { gte: 900_000 } }] } })).toEqual([]);
  });

  it('nested relation filters', async () => {
    const [sample] = await find({ include: { category: true } });
    const found = await find({ where: { category: { name: sample?.category.name } }, include: { category: true } });
    expect(new Set(found.map(({ category }) => category.name))).toEqual(new Set([sample?.category.name]));
    const categories = await app.get('/api/v1/categories', { where: { products: { some: { sku: sample?.sku } } } }).expectData();
    expect(categories.map(({ id }: { id: string }) => id)).toEqual([sample?.category.id]);
  });

  it('includes with where, orderBy, take, include and select', async () => {
    const [category] = await app
      .get('/api/v1/categories', {
        include: {
          products: { where: { price: { gte: 1000 } }, orderBy: { price: 'desc' }, take: 3, include: { category: true } },
        },
      })
      .expectData();
    const prices = category.products.map(({ price }: Product) => price);
    expect(prices.length).toBeLessThanOrEqual(3);
    expect(prices).toEqual([...prices].sort((a, b) => b - a));
    expect(category.products[0].category.id).toBe(category.id);
    const [selected] = await find({ include: { category: { select: { name: true } } } });
    expect(Object.keys(selected?.category ?? {})).toEqual(['name']);
  });

  it('dotted orderBy keys and several keys in order', async () => {
    const found = await find({ orderBy: { 'category.name': 'asc', price: 'desc' }, include: { category: true } });
    const sorted = [...found].sort(
      (a, b) => a.category.name.localeCompare(b.category.name, 'en') || b.price - a.price || 0,
    );
    expect(found.map(({ category, price }) => [category.name, price])).toEqual(
      sorted.map(({ category, price }) => [category.name, price]),
    );
  });
});

describe('spec.md: Limits', () => {
  it('programmatic search options are clamped: page 1 at least, pageSize 1 to 100, defaults 1 and 10', () => {
    expect(sanitizeSearchOptions({})).toMatchObject({ page: 1, pageSize: 10 });
    expect(sanitizeSearchOptions({ page: -3, pageSize: 1000 })).toMatchObject({ page: 1, pageSize: 100 });
    expect(sanitizeSearchOptions({ page: 2, pageSize: 0 })).toMatchObject({ page: 2, pageSize: 1 });
  });

  it('the default pagination schema allows a pageSize of 100 and not of 101', () => {
    const { paginationSchema } = defaultQuerySchemas;
    expect(paginationSchema.safeParse({ page: 1, pageSize: 100 }).success).toBe(true);
    expect(paginationSchema.safeParse({ page: 1, pageSize: 101 }).success).toBe(false);
    expect(paginationSchema.safeParse({ page: 0, pageSize: 10 }).success).toBe(false);
  });
});

describe('design: Paging', () => {
  it('pages never overlap and together hold every record once', async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 10; page++) {
      const { body } = await app.get(paginated, { page, pageSize: 100, orderBy: { 'category.name': 'asc' } });
      seen.push(...body.data.map(({ id }: Product) => id));
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(Math.min(1000, await app.count('product')));
  });

  it('total is right past the last page and uses the same filter', async () => {
    const where = { price: { lte: 20_000 } };
    const total = await app.count('product', where);
    expect((await app.get(paginated, { where, page: 9999 })).body).toMatchObject({ data: [], page: 9999, total });
  });

  it('links to the first, previous, next and last page', async () => {
    const { headers } = await app.get(paginated, { page: 2, pageSize: 10 });
    expect(headers.link).toMatch(/rel="first".*rel="prev".*rel="next".*rel="last"/);
  });

  it('a cursor walks every record once, at any depth, and ends with null', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await app.get(paginated, { cursor, pageSize: 100, orderBy: { price: 'desc', name: 'asc' } });
      seen.push(...body.data.map(({ id }: Product) => id));
      cursor = body.nextCursor;
    }
    expect(new Set(seen).size).toBe(await app.count('product'));
    expect(seen.length).toBe(await app.count('product'));
  });

  it('a forged cursor and one made for another order or filter are refused', async () => {
    const { body } = await app.get(paginated, { cursor: '', pageSize: 2, orderBy: { price: 'asc' } });
    const cursor = body.nextCursor as string;
    await expectRefused(paginated, { cursor: `${cursor.slice(0, -2)}xx`, orderBy: { price: 'asc' } }, 'cursor');
    await expectRefused(paginated, { cursor, orderBy: { price: 'desc' } }, 'cursor');
    await expectRefused(paginated, { cursor, orderBy: { price: 'asc' }, where: { price: { gte: 1 } } }, 'cursor');
  });

  it('count=none leaves the total out of the work: null', async () => {
    expect((await app.get(paginated, { count: 'none' })).body.total).toBeNull();
  });

  it('find lists are bounded and say by how many', async () => {
    const response = await app.get(products);
    expect(response.headers['x-result-limit']).toBe('1000');
    expect(response.body.data.length).toBeLessThanOrEqual(1000);
  });
});
