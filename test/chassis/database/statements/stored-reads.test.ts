import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { StoredRecords } from '../../../../src/chassis/database/reads/coalesce.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { InternalServerErrorException, NotFoundException } from '../../../../src/chassis/errors/exceptions.ts';
import { createCursorCodec } from '../../../../src/chassis/query/paging/cursor.ts';
import { unreadData } from '../../../../src/chassis/query/paging/paging.ts';
import type { PageResult, SearchQuery } from '../../../../src/chassis/query/query-types.ts';
import { ResourceService } from '../../../../src/chassis/resource/resource-service.ts';
import { productList } from '../../../fixtures/service/modules/catalog/catalog.schema.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';
import { Answers } from './answers.ts';

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

/** Has a rule that looks at the records of a page, and one that looks at the records of a list. */
class Discounts extends ResourceService<Products> {
  override async paginate(query: SearchQuery): Promise<PageResult<object>> {
    const page = await super.paginate(query);
    return { ...page, data: page.data.map((record) => ({ ...record, price: 1 })) };
  }

  override async list(): Promise<object[]> {
    return [{ id: 'of a rule' }];
  }
}

const cursors = createCursorCodec('a secret of the tests that is long enough');
const left = { shape: 0, failed: 0 };
const counts = {
  seconds: { observe: () => undefined },
  coalesced: () => undefined,
  leftToOrm: (reason: 'shape' | 'failed') => {
    left[reason] += 1;
  },
};

describe.each(databaseProviders)('reads of which %s makes the JSON', (provider) => {
  let open: OpenOrm;
  let products: Products;
  let categoryId: string;
  const find = { model: 'Product', select: productList.select, orderBy: [{ sku: 'asc' }], take: 100 };
  const search: SearchQuery = { ...find, page: 1, pageSize: 100, skip: 0, count: 'exact' };
  const stored = () => open.client.product.findMany({ orderBy: { sku: 'asc' }, select: { ...productList.select } });
  const aProduct = (sku: string) => ({ sku, name: `name of ${sku}`, description: '', price: 5, categoryId });

  beforeAll(async () => {
    open = await openEmptyDatabase(provider, {}, { counts });
    products = new Products({ orm: open.client });
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    Object.assign(left, { shape: 0, failed: 0 });
    await open.client.product.deleteMany();
    await open.client.category.deleteMany();
    categoryId = (await open.client.category.create({ data: { name: 'shelf' } })).id;
    await open.client.product.createMany({ data: ['a', 'b', 'c'].map(aProduct) });
  });
  const countsOfLeft = () => ({ ...left });

  it('give who looks at them the records that the ORM gives, frozen where they are shared', async () => {
    const expected = await stored();
    const listed = await products.findMany(find);
    const { data, total } = await products.findPage(search);
    expect([listed, data, total]).toStrictEqual([expected, expected, 3]);
    expect([listed, listed[0], data, data[0]].every(Object.isFrozen)).toBe(true);
    const found = await products.getById(String(expected[0]?.id), productList.select);
    expect(found).toStrictEqual(expected[0]);
    expect(Object.isFrozen(found)).toBe(false);
    expect(countsOfLeft()).toEqual({ shape: 0, failed: 0 });
  });

  it('keep the JSON of a page until somebody looks at its records', async () => {
    const page = await products.findPage(search);
    expect(unreadData(page)?.json).toBe(JSON.stringify(await stored()));
    expect(unreadData({ ...page })).toBeUndefined();
    expect(page.data).toHaveLength(3);
    expect(unreadData(page)).toBeUndefined();
    const replaced = await products.findPage(search);
    replaced.data = [];
    expect(unreadData(replaced)).toBeUndefined();
    expect(replaced).toEqual({ data: [], page: 1, pageSize: 100, total: 3 });
  });

  it('keep the JSON of a page by cursor too, of which the last record alone is parsed', async () => {
    const orderBy = '{"name":"asc"}';
    const byCursor = (cursor: string) => productList.parseSearch({ pageSize: '2', orderBy, cursor }, cursors);
    const [first, second] = await Promise.all([products.findPage(byCursor('')), products.findPage(byCursor(''))]);
    const all = await stored();
    expect(unreadData(first)?.json).toBe(JSON.stringify(all.slice(0, 2)));
    expect(unreadData(second)).toBe(unreadData(first));
    const last = await products.findPage(byCursor(first.nextCursor as string));
    expect(unreadData(last)?.json).toBe(JSON.stringify(all.slice(2)));
    expect(last.nextCursor).toBeNull();
  });

  it('take the keys of the order out of the records of a page by cursor', async () => {
    const query = { pageSize: '2', cursor: '', orderBy: '{"category.name":"asc"}' };
    const page = await products.findPage(productList.parseSearch(query, cursors));
    expect(unreadData(page)).toBeUndefined();
    expect(page.data[0]).not.toHaveProperty('category');
    expect(page.nextCursor).toEqual(expect.any(String));
  });

  it('make one JSON for all who share a read', async () => {
    const pages = await Promise.all([products.findPage(search), products.findPage(search)]);
    const [first, second] = pages.map(unreadData);
    expect(first).toBeInstanceOf(StoredRecords);
    expect(second).toBe(first);
  });

  it('let the rules of a service see and change what leaves', async () => {
    const answers = new Answers(open.client, productList, new Discounts({ repository: products }));
    expect(await answers.of('paginated', {})).toMatch(/"price":1,.*"price":1,.*"price":1,/);
    expect(await answers.of('list', {})).toContain('[{"id":"of a rule"}]');
    const plain = new Answers(open.client, productList);
    expect(await plain.of('list', {})).toContain(
      JSON.stringify(await products.findMany({ ...find, orderBy: [{ id: 'asc' }] })),
    );
  });

  it('raise 404 for a record that is not there', async () => {
    const missing = '00000000-0000-4000-8000-000000000000';
    expect(await products.findById(missing, productList.select)).toBeNull();
    expect(await raised(() => products.getById(missing, productList.select))).toBeInstanceOf(NotFoundException);
    expect(await raised(() => products.getStored(missing, productList.select))).toBeInstanceOf(NotFoundException);
  });

  it('see what the unit of work around them wrote, and nothing of it once it is undone', async () => {
    const work = products.unitOfWork(async () => {
      await products.create(aProduct('d'));
      expect((await products.findPage(search)).total).toBe(4);
      expect(await products.findMany(find)).toHaveLength(4);
      throw new Error('undo');
    });
    await expect(work).rejects.toThrow('undo');
    expect((await products.findPage(search)).total).toBe(3);
  });

  it('are refused inside of a transaction that they would not belong to', async () => {
    const inside = () => open.client.$transaction(() => products.findMany(find));
    expect(await raised(inside)).toBeInstanceOf(InternalServerErrorException);
  });

  it('leave to the ORM what they do not know, and count it', async () => {
    const query = { ...find, orderBy: [{ category: { products: { _count: 'desc' } } }, { sku: 'asc' }] };
    expect(await products.findMany(query)).toStrictEqual(await stored());
    expect(countsOfLeft()).toEqual({ shape: 1, failed: 0 });
  });

  it('leave to the ORM a value that is stored otherwise than it stores it, and count it', async () => {
    const moment = provider === 'sqlite' ? '1767225600000' : "'12000-01-01'";
    await open.client.$executeRawUnsafe(`UPDATE products SET "createdAt" = ${moment} WHERE sku = 'b'`);
    expect(await products.findMany(find)).toStrictEqual(await stored());
    expect(countsOfLeft()).toEqual({ shape: 0, failed: 1 });
  });

  it('show each of two writers at work what it wrote last, and nothing of the other', async () => {
    const other = await open.client.category.create({ data: { name: 'other' } });
    const answers = new Answers(open.client, productList);
    const write = async (scope: string, name: string) => {
      const { id } = await products.create({ ...aProduct(name), categoryId: scope });
      for (let price = 100; price < 200; price++) {
        await products.update(id, { price });
        const where = JSON.stringify({ categoryId: scope, price: { gte: 100 } });
        const reads = ['paginated', 'list'] as const;
        const texts = await Promise.all(reads.map((read) => answers.of(read, { where, include: '{"category":true}' })));
        for (const text of texts) {
          const { data } = JSON.parse(text.slice(text.indexOf('{"success"')));
          expect(data).toMatchObject([{ id, price, sku: name, category: { id: scope } }]);
        }
      }
    };
    await Promise.all([write(categoryId, 'w1'), write(other.id, 'w2')]);
    expect(countsOfLeft()).toEqual({ shape: 0, failed: 0 });
  });
});
