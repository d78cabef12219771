import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const products = '/api/v1/products';

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
    const categories = await app
      .get('/api/v1/categories', { where: { products: { some: { sku: sample?.sku } } } })
      .expectData();
    expect(categories.map(({ id }: { id: string }) => id)).toEqual([sample?.category.id]);
  });

  it('includes with where, orderBy, take, include and select', async () => {
    const [category] = await app
      .get('/api/v1/categories', {
        include: {
          products: {
            where: { price: { gte: 1000 } },
            orderBy: { price: 'desc' },
            take: 3,
            include: { category: true },
          },
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
