import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { dataModelOf } from '../../../../src/chassis/database/models/data-model.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { hasOnePlan } from '../../../../src/chassis/database/statements/kept-plan.ts';
import type { Filter } from '../../../../src/chassis/query/query-types.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';

describe('a page', () => {
  const dataModel = dataModelOf(`
    model Order {
      id        Int      @id
      tenantId  String
      status    String
      sku       String   @unique
      placedAt  DateTime
      details   Json
      owner     Owner    @relation(fields: [tenantId], references: [id])
      @@index([tenantId, status, placedAt(sort: Desc), id])
      @@index([details], type: Gin)
      @@index([status, sku], where: raw("sku <> ''"))
    }
    model Owner {
      id     String  @id
      orders Order[]
    }`);
  const byDate = [{ placedAt: 'desc' }, { id: 'desc' }];
  const since = { placedAt: { gte: new Date(0), lt: new Date() } };
  const ofOne = { tenantId: 'a', status: { equals: 'new' } };

  it('knows the fields of indexes that hold all records', () => {
    expect(dataModel.models.Order?.indexes).toEqual([['id'], ['sku'], ['tenantId', 'status', 'placedAt', 'id']]);
  });

  it.each<[string, Filter | undefined, Record<string, unknown>[]?]>([
    ['without a filter', undefined],
    ['of a part of its order', since],
    ['that an index gives in order', ofOne],
    ['that an index gives, of a part of its order', { AND: [{ status: 'new' }, { AND: [{ tenantId: 'a' }, since] }] }],
    ['by a relation of nobody', {}, [{ id: 'asc' }]],
  ])('%s has one plan for all values', (_of, where, orderBy = byDate) => {
    expect(hasOnePlan(dataModel, 'Order', { ...(where && { where }), orderBy })).toBe(true);
  });

  it.each<[string, Filter | undefined, Record<string, unknown>[]?]>([
    ['by a value that no index has in order', { status: 'new' }],
    ['by a value whose index holds a part of the records', { status: 'new' }, [{ sku: 'asc' }]],
    ['by a range beside the order', { id: { gt: 1 } }],
    ['by one of several values', { ...ofOne, status: { in: ['new', 'paid'] } }],
    ['by a choice', { OR: [since, { placedAt: new Date() }] }],
    ['by what it is not', { NOT: since }],
    ['by a value of its order', { placedAt: new Date() }],
    ['by a missing value', { ...ofOne, status: null }],
    ['by a part of a text', { ...ofOne, status: { contains: 'n' } }],
    ['by a record beside it', { owner: { id: 'a' } }],
    ['by a document', { details: { equals: {} } }],
    ['by a value and a range of one field', { AND: [ofOne, { status: { gt: 'a' } }] }],
    ['with missing values last', undefined, [{ placedAt: { sort: 'desc', nulls: 'last' } }]],
    ['in the order of a record beside it', undefined, [{ owner: { id: 'asc' } }]],
    ['without an order', undefined, []],
  ])('%s is planned by its values', (_by, where, orderBy = byDate) => {
    expect(hasOnePlan(dataModel, 'Order', { ...(where && { where }), orderBy })).toBe(false);
  });
});

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

const select = { id: true, sku: true };
const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }];
const count = 1100;

async function openShelf(provider: (typeof databaseProviders)[number]): Promise<OpenOrm> {
  const open = await openEmptyDatabase(provider, { DATABASE_POOL_SIZE: 1 });
  const { id: categoryId } = await open.client.category.create({ data: { name: 'shelf' } });
  const data = Array.from({ length: count }, (_, index) => ({
    sku: `sku ${index}`,
    name: 'a product',
    description: '',
    price: index,
    categoryId,
    createdAt: new Date(index * 1000),
  }));
  await open.client.product.createMany({ data });
  return open;
}

describe.each(databaseProviders)('pages of %s', (provider) => {
  let open: OpenOrm;
  beforeAll(async () => {
    open = await openShelf(provider);
  });
  afterAll(() => open.close());

  it.each([
    [20, 0],
    [20, 44],
    [20, 45],
    [20, 236],
    [20, 237],
    [20, 1004],
    [20, 1005],
    [100, 1064],
    [20, 1100],
  ])('of %i after %i are those of the ORM', async (take, skip) => {
    const read = { model: 'Product', where: { createdAt: { gte: new Date(3000) } }, select, orderBy, take, skip };
    const { data } = await new Products({ orm: open.client }).findPage({
      ...read,
      page: 1,
      pageSize: take,
      count: 'none',
    });
    const { model: _model, ...asked } = read;
    expect(data).toEqual(await open.client.product.findMany(asked as object));
  });
});

describe('PostgreSQL', () => {
  let open: OpenOrm;
  beforeAll(async () => {
    open = await openShelf('postgresql');
    // In a table this long ten per cent of all records, which it takes LIMIT and OFFSET for, are no small number.
    await open.client.$executeRaw`
      INSERT INTO products (id, sku, name, description, price, "categoryId", "createdAt", "updatedAt")
      SELECT gen_random_uuid(), 'more ' || n, name, description, n, "categoryId", "createdAt" - n * interval '1 s', "updatedAt"
      FROM products, generate_series(1, 20000) AS n WHERE sku = 'sku 0'`;
    await open.client.$executeRaw`ANALYZE products`;
  });
  afterAll(() => open.close());

  /** How often pages of a filter by a field were planned by their values, and how often by a plan that was kept. */
  async function plansOf(field: string, where: (page: number) => Filter): Promise<{ custom: number; generic: number }> {
    const products = new Products({ orm: open.client });
    for (let page = 1; page <= 12; page++) {
      const read = { model: 'Product', where: where(page), select, orderBy, take: 20, skip: page * 20 };
      await products.findPage({ ...read, page, pageSize: 20, count: 'none' });
    }
    const [plans] = await open.client.$queryRaw<{ custom: bigint; generic: bigint }[]>`
      SELECT sum(custom_plans) AS custom, sum(generic_plans) AS generic FROM pg_prepared_statements
      WHERE statement LIKE 'SELECT j::text%' AND statement LIKE ${`%"${field}" >= %`}`;
    return { custom: Number(plans?.custom), generic: Number(plans?.generic) };
  }

  it('keeps the plan of a page that has one for all values, and plans others by their values', async () => {
    const { generic } = await plansOf('createdAt', (page) => ({ createdAt: { gte: new Date(-page * 1000) } }));
    expect(generic).toBeGreaterThan(0);
    expect(await plansOf('price', (page) => ({ price: { gte: page } }))).toEqual({ custom: 12, generic: 0 });
  });
});
