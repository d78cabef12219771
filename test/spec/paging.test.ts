import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { expectRefused } from '../support/expect-refused.ts';

const app = await bootTestApp();
const products = '/api/v1/products';
const paginated = `${products}/paginated`;

describe('design: Paging', () => {
  it('pages never overlap and together hold every record once', async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 10; page++) {
      const { body } = await app.get(paginated, { page, pageSize: 100, orderBy: { 'category.name': 'asc' } });
      seen.push(...body.data.map(({ id }: { id: string }) => id));
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
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect(new Set(seen).size).toBe(await app.count('product'));
    expect(seen.length).toBe(await app.count('product'));
  });

  it('a forged cursor and one made for another order or filter are refused', async () => {
    const { body } = await app.get(paginated, { cursor: '', pageSize: 2, orderBy: { price: 'asc' } });
    const cursor = body.nextCursor as string;
    await expectRefused(app, paginated, { cursor: `${cursor.slice(0, -2)}xx`, orderBy: { price: 'asc' } }, 'cursor');
    await expectRefused(app, paginated, { cursor, orderBy: { price: 'desc' } }, 'cursor');
    await expectRefused(app, paginated, { cursor, orderBy: { price: 'asc' }, where: { price: { gte: 1 } } }, 'cursor');
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
