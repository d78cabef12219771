import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { productList } from '../../../fixtures/service/modules/catalog/catalog.schema.ts';
import { openEmptyDatabase } from '../../../support/empty-database.ts';

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

/** What the driver is asked, as the ORM's adapter does. */
type Ask = (config: { text: string }) => Promise<unknown>;

describe('lists of PostgreSQL that are asked for at once', () => {
  let open: OpenOrm;
  let products: Products;
  let most = 0;

  beforeAll(async () => {
    open = await openEmptyDatabase('postgresql', { DATABASE_JSON_READS: true });
    products = new Products({ orm: open.client });
    const { id: categoryId } = await open.client.category.create({ data: { name: 'shelf' } });
    const aProduct = (sku: string, description: string) => ({ sku, name: sku, price: 5, categoryId, description });
    const long = Array.from({ length: 80 }, (_, index) => aProduct(`long ${index}`, 'x'.repeat(10_000)));
    const wide = Array.from({ length: 80 }, (_, index) => aProduct(`wide ${index}`, '漢'.repeat(3000)));
    await open.client.product.createMany({ data: [...long, ...wide, aProduct('short', '')] });
    let running = 0;
    const { pool } = open;
    const asked = pool?.query.bind(pool) as unknown as Ask;
    const watched: Ask = async (config) => {
      most = Math.max(most, ++running);
      return asked(config).finally(() => {
        running -= 1;
      });
    };
    Object.assign(pool ?? {}, { query: watched });
  });
  afterAll(() => open.close());

  /** How many of eight lists are read at once, each of which asks for another thing in the same way. */
  const mostAtOnce = async (filterOf: (index: number) => object, take = 100, related: object = {}) => {
    most = 0;
    const find = { model: 'Product', select: { ...productList.select, ...related }, orderBy: [{ id: 'asc' }], take };
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => products.findMany({ ...find, where: filterOf(index) as never })),
    );
    return most;
  };

  it('are read two at a time once they have given much text', async () => {
    const long = (index: number) => ({ sku: { startsWith: 'long' }, price: { lt: 100 + index } });
    expect(await mostAtOnce(long)).toBe(8);
    expect(await mostAtOnce((index) => long(index + 8))).toBe(2);
  });

  it('are read two at a time where their letters take three bytes each', async () => {
    const wide = (index: number) => ({ sku: { startsWith: 'wide' }, price: { lte: 100 + index } });
    await mostAtOnce(wide);
    expect(await mostAtOnce((index) => wide(index + 8))).toBe(2);
  });

  it('are told to come again where their turn comes too late, and not that the database is gone', async () => {
    const { pool } = open;
    const asked = pool?.query.bind(pool) as unknown as Ask;
    const slow: Ask = async (config) => {
      await wait(2500);
      return asked(config);
    };
    Object.assign(pool ?? {}, { query: slow });
    onTestFinished(() => void Object.assign(pool ?? {}, { query: asked }));
    const find = { model: 'Product', select: productList.select, orderBy: [{ id: 'asc' }], take: 1000 };
    const read = (index: number) => products.findMany({ ...find, where: { name: `late ${index}`, price: { gte: 1 } } });
    const outcomes = await Promise.allSettled([1, 2, 3].map(read));
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).toEqual([
      ...[false, false],
      expect.stringMatching(/^ServiceUnavailableException: Too many long lists/),
    ]);
  });

  it('are read two at a time where they may give much and none has been read yet, and all at once when it was little', async () => {
    const short = (index: number) => ({ sku: `short ${index}` });
    expect(await mostAtOnce(short, 1000)).toBe(2);
    expect(await mostAtOnce((index) => short(index + 8), 1000)).toBe(8);
  });

  it('are read two at a time where they have lists of related records and none has been read yet, however few they are', async () => {
    const short = (index: number) => ({ sku: `short ${index}` });
    expect(await mostAtOnce(short, 4, { category: { select: { id: true } } })).toBe(8);
    const ofShelf = { select: { id: true }, orderBy: [{ id: 'asc' }], take: 5 };
    const related = { category: { select: { products: ofShelf } } };
    expect(await mostAtOnce(short, 4, related)).toBe(2);
    expect(await mostAtOnce((index) => short(index + 8), 4, related)).toBe(8);
  });
});
