import { once } from 'node:events';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import type { SearchQuery } from '../../../../src/chassis/query/query-types.ts';
import { productList } from '../../../fixtures/service/modules/catalog/catalog.schema.ts';
import { openEmptyDatabase } from '../../../support/empty-database.ts';

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

/** What the driver is asked, as the ORM's adapter does. */
type Ask = (config: { text: string }) => Promise<{ rows: unknown[][] }>;

/** Answers of PostgreSQL to counts: the total, or null where it did not count. */
function watchCounts(pool: Pool): unknown[] {
  const counts: unknown[] = [];
  const asked = pool.query as unknown as Ask;
  const watched: Ask = async (config) => {
    const result = await asked(config);
    if (config.text.includes('COUNT(*)')) counts.push(result.rows[0]?.[0]);
    return result;
  };
  Object.assign(pool, { query: watched });
  return counts;
}

describe('the total of a list of PostgreSQL', () => {
  let open: OpenOrm;
  let other: OpenOrm;
  let products: Products;
  let counts: unknown[];
  let categoryId: string;
  const of = (least: number): SearchQuery => {
    const where = { price: { gte: least } };
    const find = { model: 'Product', select: productList.select, orderBy: [{ sku: 'asc' as const }], where, take: 1 };
    return { ...find, countWhere: where, page: 1, pageSize: 1, skip: 0, count: 'exact' };
  };
  const total = async (least = 1) => (await products.findPage(of(least))).total;
  const aProduct = (sku: string, price = 5) => ({ sku, name: sku, description: '', price, categoryId });

  beforeAll(async () => {
    open = await openEmptyDatabase('postgresql', { DATABASE_JSON_READS: true });
    other = await openEmptyDatabase('postgresql', { DATABASE_JSON_READS: true });
    products = new Products({ orm: open.client });
    counts = watchCounts(open.pool as Pool);
  });
  afterAll(async () => {
    await open.close();
    await other.close();
  });
  beforeEach(async () => {
    await open.client.product.deleteMany();
    await open.client.category.deleteMany();
    categoryId = (await open.client.category.create({ data: { name: 'shelf' } })).id;
    await open.client.product.createMany({ data: ['a', 'b', 'c'].map((sku) => aProduct(sku)) });
    counts.length = 0;
  });

  it('is not counted again while nothing was written, and is the same for nobody who asks otherwise', async () => {
    // Whatever else runs on this server writes too.
    await expect
      .poll(async () => {
        expect(await total()).toBe(3);
        return counts.at(-1);
      })
      .toBeNull();
    expect(await total(6)).toBe(0);
  });

  it('is counted anew after each write, of this service and of others', async () => {
    expect(await total()).toBe(3);
    await open.client.product.create({ data: aProduct('d') });
    expect(await total()).toBe(4);
    await open.client.product.updateMany({ where: { sku: 'a' }, data: { price: 0 } });
    expect(await total()).toBe(3);
    await open.client.$executeRawUnsafe('TRUNCATE products CASCADE');
    expect(await total()).toBe(0);
    expect(counts).not.toContain(null);
  });

  it('shows no write that was rolled back, and one that was begun before once it is committed', async () => {
    expect(await total()).toBe(3);
    const client = await (open.pool as Pool).connect();
    const insert = (sku: string) =>
      client.query(
        `INSERT INTO products (id, sku, name, description, price, "categoryId", "updatedAt") VALUES (gen_random_uuid(), '${sku}', 'n', '', 5, '${categoryId}', now())`,
      );
    try {
      await client.query('BEGIN');
      await insert('rolled back');
      expect(await total()).toBe(3);
      await client.query('ROLLBACK');
      expect(await total()).toBe(3);
      await client.query('BEGIN');
      await insert('begun early');
      await open.client.product.create({ data: aProduct('meanwhile') });
      expect(await total()).toBe(4);
      await client.query('COMMIT');
      expect(await total()).toBe(5);
    } finally {
      client.release();
    }
  });

  it('is right after each of a hundred writes while others write elsewhere', async () => {
    let writing = true;
    const elsewhere = (async () => {
      for (let count = 0; writing; count += 1) await other.client.category.create({ data: { name: `c${count}` } });
    })();
    for (let count = 1; count <= 100; count += 1) {
      await open.client.product.create({ data: aProduct(`n${count}`) });
      expect(await total()).toBe(3 + count);
    }
    writing = false;
    await elsewhere;
  });

  it('is counted anew once a connection has ended, behind which another server may be', async () => {
    await expect.poll(async () => [await total(), counts.at(-1)]).toEqual([3, null]);
    const pool = open.pool as Pool;
    const client = await pool.connect();
    const removed = once(pool, 'remove');
    client.release(true);
    await removed;
    expect(await total()).toBe(3);
    expect(counts.at(-1)).not.toBeNull();
  });

  it('is counted each time where it may change although nothing was written, as that of a view does', async () => {
    await open.client.$executeRawUnsafe('ALTER TABLE products RENAME TO stored_products');
    try {
      await open.client.$executeRawUnsafe(
        `CREATE VIEW products AS SELECT * FROM stored_products WHERE clock_timestamp() < '${new Date(Date.now() + 1000).toISOString()}'`,
      );
      expect(await total()).toBe(3);
      await expect.poll(() => total(), { timeout: 3000 }).toBe(0);
      expect(counts).not.toContain(null);
    } finally {
      await open.client.$executeRawUnsafe('DROP VIEW IF EXISTS products');
      await open.client.$executeRawUnsafe('ALTER TABLE stored_products RENAME TO products');
    }
  });

  it('is counted each time where policies choose the rows', async () => {
    await open.client.$executeRawUnsafe('ALTER TABLE products ENABLE ROW LEVEL SECURITY');
    for (let times = 0; times < 5; times += 1) expect(await total()).toBe(3);
    expect(counts).not.toContain(null);
    await open.client.$executeRawUnsafe('ALTER TABLE products DISABLE ROW LEVEL SECURITY');
    await expect.poll(async () => [await total(), counts.at(-1)]).toEqual([3, null]);
  });

  it('is counted anew where a connection ends while the count waits for its own', async () => {
    await expect.poll(async () => [await total(), counts.at(-1)]).toEqual([3, null]);
    const pool = open.pool as Pool;
    const asked = pool.query;
    const endsOne = (...config: unknown[]) => {
      Object.assign(pool, { query: asked });
      pool.emit('remove', {} as never);
      return Reflect.apply(asked, pool, config);
    };
    Object.assign(pool, { query: endsOne });
    expect(await total()).toBe(3);
    expect(counts.at(-1)).not.toBeNull();
  });
});
