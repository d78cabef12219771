import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { productList } from '../../../fixtures/service/modules/catalog/catalog.schema.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { openEmptyDatabase } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';
import { fillTenant, fillTwoTenants } from '../../../support/two-tenants.ts';

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

/** What the driver is asked, as the ORM's adapter does. */
type Ask = (config: { text: string }) => Promise<unknown>;

const requestOf = (user: number, more: Partial<RequestContext> = {}): RequestContext => {
  const request = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: `192.0.2.${user}` };
  return { ...request, userId: `user ${user}`, ...more };
};

describe('single records of PostgreSQL that requests ask for at once', () => {
  const { select } = productList;
  const missing = '00000000-0000-4000-8000-000000000000';
  const left = { shape: 0, failed: 0 };
  let coalesced = 0;
  const counts = {
    seconds: { observe: () => undefined },
    coalesced: () => {
      coalesced += 1;
    },
    leftToOrm: (reason: 'shape' | 'failed') => {
      left[reason] += 1;
    },
  };
  let open: OpenOrm;
  let products: Products;
  let ids: string[];
  let asked: Ask;
  let queries: string[] = [];

  beforeAll(async () => {
    open = await openEmptyDatabase('postgresql', { DATABASE_JSON_READS: true }, { counts });
    products = new Products({ orm: open.client });
    const { id: categoryId } = await open.client.category.create({ data: { name: 'shelf' } });
    const aProduct = (sku: string) => ({ sku, name: `name of ${sku}`, description: '', price: 5, categoryId });
    await open.client.product.createMany({ data: Array.from({ length: 150 }, (_, index) => aProduct(`s${index}`)) });
    const { pool } = open;
    asked = pool?.query.bind(pool) as unknown as Ask;
    ids = (await open.client.product.findMany({ select: { id: true } })).map(({ id }) => id);
    // The first tells how long such records are.
    await products.findById(ids[0] as string, select);
  });
  afterAll(() => open.close());
  beforeEach(() => {
    queries = [];
    coalesced = 0;
    Object.assign(left, { shape: 0, failed: 0 });
    answerBy(asked);
  });

  function answerBy(ask: Ask) {
    const counted: Ask = (config) => {
      queries.push(config.text);
      return ask(config);
    };
    Object.assign(open.pool ?? {}, { query: counted });
  }
  const byOrm = (id: string) => open.client.product.findUnique({ where: { id }, select: { ...select } as never });
  const find = (id: string, user = 1) => runWithRequestContext(requestOf(user), () => products.findById(id, select));

  it('are one question, of which each gets its own record or none', async () => {
    const some = [...ids.slice(0, 20), missing, ids[3] as string];
    const expected = await Promise.all(some.map(byOrm));
    queries = [];
    expect(await Promise.all(some.map(find))).toStrictEqual(expected);
    expect([queries.length, coalesced, left]).toEqual([1, some.length - 1, { shape: 0, failed: 0 }]);
  });

  it('are one more for each 64 of them', async () => {
    const found = await Promise.all(ids.map(find));
    expect(found.map((record) => record?.id)).toEqual(ids);
    expect(queries).toHaveLength(3);
  });

  it('are a question each outside of requests', async () => {
    await Promise.all(ids.slice(0, 2).map((id) => products.findById(id, select)));
    expect(queries).toHaveLength(2);
  });

  it('hold what each request wrote before it asked', async () => {
    const write = async (id: string, user: number) => {
      for (let price = 100; price < 120; price += 1) {
        await products.update(id, { price });
        expect(await find(id, user)).toMatchObject({ id, price });
      }
    };
    await Promise.all(ids.slice(0, 8).map(write));
    expect(coalesced).toBeGreaterThan(0);
  });

  it('are read one by one where one of them cannot be read, which the ORM reads', async () => {
    const [first, odd, last] = ids.slice(40, 43) as [string, string, string];
    await open.client.$executeRawUnsafe(`UPDATE products SET "createdAt" = '12000-01-01' WHERE id = '${odd}'`);
    const expected = await Promise.all([first, odd, last].map(byOrm));
    expect(await Promise.all([first, odd, last].map(find))).toStrictEqual(expected);
    expect(left).toEqual({ shape: 0, failed: 1 });
    await open.client.$executeRawUnsafe(`UPDATE products SET "createdAt" = now() WHERE id = '${odd}'`);
  });

  it('fail each with an error of its own where the database cannot be reached', async () => {
    answerBy(async () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect', errno: -111 });
    });
    const errors = await Promise.all(ids.slice(0, 3).map((id) => raised(() => find(id))));
    expect(errors.map(({ name }) => name)).toEqual(Array(3).fill('DatabaseUnavailableException'));
    expect([new Set(errors).size, queries.length]).toEqual([3, 1]);
  });

  it('are read for the others where the one that asked first has gone, and not at all where all have', async () => {
    const asGone = (id: string) =>
      runWithRequestContext(requestOf(9, { abortReason: 'client closed' }), () => products.findById(id, select));
    const first = asGone(ids[0] as string);
    const others = await Promise.all(ids.slice(1, 3).map(find));
    expect(others.map((record) => record?.id)).toEqual(ids.slice(1, 3));
    await first;
    queries = [];
    const errors = await Promise.all(ids.slice(0, 2).map((id) => raised(() => asGone(id))));
    expect(errors.map(({ name }) => name)).toEqual(Array(2).fill('RequestAbandonedException'));
    expect(queries).toEqual([]);
  });

  it('are a question each where they are so long that two are much text', async () => {
    const long = { where: { id: { in: ids.slice(0, 3) } }, data: { description: 'x'.repeat(300_000) } };
    await open.client.product.updateMany(long);
    await find(ids[0] as string);
    queries = [];
    const found = await Promise.all(ids.slice(0, 3).map(find));
    expect([found.map((record) => record?.id), queries.length]).toEqual([ids.slice(0, 3), 3]);
  });
});

it('a record in the scope of another tenant is not found, whoever asks for it in the same question', async () => {
  const app = await bootTestApp({ provider: 'postgresql' });
  const tenants = await fillTwoTenants(app, fillTenant);
  const orders = await Promise.all(
    tenants.map(async ({ client }) =>
      (await client.get('/api/v1/orders')).body.data.map(({ id }: { id: string }) => id),
    ),
  );
  const all = orders.flat() as string[];
  for (let round = 0; round < 5; round += 1) {
    const answers = tenants.map(({ client }) => Promise.all(all.map((id) => client.get(`/api/v1/orders/${id}`))));
    for (const [index, answer] of (await Promise.all(answers)).entries()) {
      const found = answer.filter(({ status }) => status === 200).map(({ body }) => body.data.id);
      expect([...found].sort()).toEqual([...(orders[index] ?? [])].sort());
      expect(answer.filter(({ status }) => status === 404)).toHaveLength(all.length - found.length);
    }
  }
});
