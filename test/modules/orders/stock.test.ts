import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aTenant, beyondScopes, openOrderShop } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const products: { id: string; name: string; sku: string }[] = await app
  .get('/api/v1/products/paginated', { pageSize: 20 })
  .expectData();
const item = (index: number, available = 5) => ({ productId: products[index]?.id, available });

describe('POST /stock/bulk', () => {
  it('creates what can be created, and says of each other item what is wrong with it', async () => {
    const { admin, id: tenantId } = await aTenant(app);
    const items = [item(0), item(1, -1), item(0), { ...item(2), productId: randomUUID() }, { ...item(3), tenantId }];
    const { status, body } = await admin.post('/api/v1/stock/bulk', { items });
    expect(status).toBe(207);
    expect(body).toMatchObject({
      success: true,
      data: [
        { success: true, statusCode: 201, data: { productId: products[0]?.id, available: 5 } },
        {
          success: false,
          statusCode: 400,
          message: 'Validation Failed',
          details: { errors: { available: [expect.any(String)] } },
        },
        { success: false, statusCode: 409 },
        { success: false, statusCode: 409 },
        { success: false, statusCode: 400, details: { errors: { tenantId: ['Unknown field'] } } },
      ],
    });
    expect(await admin.get('/api/v1/stock').expectData()).toHaveLength(1);
  });

  it('takes no more of a product than leaves room for what orders give back', async () => {
    const { admin } = await aTenant(app);
    const refused = await admin.post('/api/v1/stock', item(0, 1_000_000_001));
    expect(refused.body.details).toEqual({ errors: { available: [expect.any(String)] } });
    await admin.post('/api/v1/stock', item(0, 1_000_000_000)).expectData(201);
  });

  it('answers 201 where all are created, in the tenant of the caller and with a trail of each', async () => {
    const { admin, id: tenantId } = await aTenant(app);
    const { status, body } = await admin.post('/api/v1/stock/bulk', { items: [item(0), item(1), item(2)] });
    expect(status).toBe(201);
    const ids = body.data.map(({ data }: { data: { id: string } }) => data.id);
    const [rows, trail] = await beyondScopes(app, (orm) =>
      Promise.all([
        orm.stock.findMany({ where: { id: { in: ids } } }),
        orm.change.findMany({ where: { recordId: { in: ids } } }),
      ]),
    );
    expect(rows.map((row: { tenantId: string }) => row.tenantId)).toEqual([tenantId, tenantId, tenantId]);
    expect(trail).toHaveLength(3);
  });

  it('creates all or none where the request says so, and names the item that fails', async () => {
    const { admin } = await aTenant(app);
    const all = (items: object[]) => admin.post('/api/v1/stock/bulk', { items, mode: 'all' });
    const answer = await all([item(0), item(1), item(0)]).expectError(409, /./);
    expect(answer.body.details).toMatchObject({ item: 2 });
    await all([item(0), item(1, -1)]).expectError(400, 'Validation Failed');
    expect(await admin.get('/api/v1/stock').expectData()).toEqual([]);
    const created = await all([item(0), item(1)]).expectData(201);
    expect(created).toMatchObject([{ productId: products[0]?.id }, { productId: products[1]?.id }]);
  });

  it('takes as many items as the route says, and only from who may create one', async () => {
    const { admin, user } = await aTenant(app);
    const many = Array.from({ length: 101 }, () => item(0));
    const tooMany = { errors: { items: ['Expected at most 100 items'] } };
    await admin.post('/api/v1/stock/bulk', { items: many }).expectError(400, 'Validation Failed', tooMany);
    await admin.post('/api/v1/stock/bulk', { items: [] }).expectError(400, 'Validation Failed');
    await user.post('/api/v1/stock/bulk', { items: [item(0)] }).expectError(403, /role/);
  });
});

describe('the search box q', () => {
  it('finds records of which one declared field contains the text, whatever its case, on all kinds of lists', async () => {
    const { admin, user } = await aTenant(app);
    await admin.post('/api/v1/stock/bulk', { items: products.map((_, index) => item(index)) }).expectData(201);
    const { name, sku } = products[7] as { name: string; sku: string };
    for (const q of [name.toUpperCase(), sku.toLowerCase(), ` ${name} `]) {
      const found = await user.get('/api/v1/stock', { q, include: { product: true } }).expectData();
      const expected = products.filter((product) =>
        `${product.name} ${product.sku}`.toLowerCase().includes(q.trim().toLowerCase()),
      );
      const names = found.map(({ product }: { product: { name: string } }) => product.name).sort();
      expect(names).toEqual(expected.map((product) => product.name).sort());
      expect((await user.get('/api/v1/stock/paginated', { q })).body.total).toBe(expected.length);
    }
  });

  it('narrows a filter, pages by cursor, and takes % and _ literally', async () => {
    const { admin, user } = await aTenant(app);
    await admin.post('/api/v1/stock/bulk', { items: products.map((_, index) => item(index, index)) }).expectData(201);
    const first = await user.get('/api/v1/stock/paginated', {
      q: 'SKU-',
      where: { available: { lte: 3 } },
      cursor: '',
      pageSize: 3,
    });
    expect(first.body.total).toBe(4);
    const next = { q: 'SKU-', where: { available: { lte: 3 } }, cursor: first.body.nextCursor, pageSize: 3 };
    expect((await user.get('/api/v1/stock/paginated', next)).body.data).toHaveLength(1);
    await user.get('/api/v1/stock/paginated', { ...next, q: 'SKU' }).expectError(400, 'Invalid request data');
    for (const q of ['%', '_', 'SKU_0']) expect(await user.get('/api/v1/stock', { q }).expectData()).toEqual([]);
  });

  it('is bounded, and is no parameter of a list without one', async () => {
    const { user } = await aTenant(app);
    await user.get('/api/v1/stock', { q: 'x'.repeat(101) }).expectError(400, 'Invalid request data');
    await user.get('/api/v1/payments', { q: 'x' }).expectError(400, 'Invalid request data');
    expect(await user.get('/api/v1/stock', { q: '' }).expectData()).toEqual([]);
  });
});
