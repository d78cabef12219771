import { describe, expect, it } from 'vitest';
import { aDraft, aTenant, openOrderShop } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const tenant = await aTenant(app, 10);

describe('a field for a role', () => {
  it('is written, seen and asked for by who has the role, and does not exist for others', async () => {
    const { id } = await aDraft(tenant.user, tenant.products, 1);
    const path = `/api/v1/orders/${id}`;
    const secret = { internalNote: 'pays late' };
    await tenant.user.put(path, secret).expectError(403, 'Internal notes are for administrators');
    expect(await tenant.admin.put(path, secret).expectData()).toMatchObject(secret);
    expect(await tenant.admin.get(path).expectData()).toMatchObject(secret);
    expect(await tenant.admin.get('/api/v1/orders', { q: 'PAYS LATE' }).expectData()).toMatchObject([
      { id, ...secret },
    ]);
    expect(await tenant.user.get('/api/v1/orders', { q: 'pays late' }).expectData()).toEqual([]);
    for (const answer of [await tenant.user.get(path), await tenant.user.put(path, { note: 'x' })]) {
      expect(answer.status).toBe(200);
      expect(answer.body.data).not.toHaveProperty('internalNote');
    }
    const asked = (name: string) => [{ where: { [name]: 'x' } }, { orderBy: { [name]: 'asc' } }];
    for (const [index, query] of asked('internalNote').entries()) {
      const said = async (question: object) => {
        const { status, body } = await tenant.user.get('/api/v1/orders', question as never);
        return [status, JSON.stringify({ ...body, timestamp: '' }).replaceAll('internalNote', 'noSuchField')];
      };
      expect(await said(query)).toEqual(await said(asked('noSuchField')[index] as object));
    }
    const payments = await tenant.user.get('/api/v1/payments', {
      include: { order: { select: { internalNote: true } } },
    });
    expect(payments.status).toBe(400);
  });
});

describe('a product', () => {
  it('is named in capitals as well, and twice in an order by no spelling', async () => {
    const [{ productId }] = tenant.products as [{ productId: string }];
    const lines = [{ productId: productId.toUpperCase(), quantity: 1 }];
    await tenant.user.post('/api/v1/orders', { lines }).expectData(201);
    const twice = { lines: [...lines, { productId, quantity: 1 }] };
    const errors = { lines: ['Expected each product once'] };
    await tenant.user.post('/api/v1/orders', twice).expectError(400, 'Validation Failed', { errors });
  });
});

describe('the API page', () => {
  it('has the header Idempotency-Key, the search box and creation in bulk, and no field of a role', async () => {
    const { paths } = (await app.get('/api-docs.json')).body;
    const { parameters } = paths['/api/v1/orders/{id}/place'].post;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'Idempotency-Key', in: 'header' }));
    expect(paths['/api/v1/stock/bulk'].post.responses).toHaveProperty('207');
    const { parameters: ofStock } = paths['/api/v1/stock'].get;
    expect(ofStock).toContainEqual(expect.objectContaining({ name: 'q', in: 'query' }));
    const document = JSON.stringify((await app.get('/api-docs.json')).body.components.schemas.Order);
    expect(document).not.toContain('internalNote');
  });
});
