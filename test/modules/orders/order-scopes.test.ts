import { randomUUID } from 'node:crypto';
import type { TestRequest } from 'slipway/testing';
import { describe, expect, it } from 'vitest';
import { aDraft, aTenant, openOrderShop } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const tenant = await aTenant(app, 10);
const { id } = await aDraft(tenant.user, tenant.products, 1);
const lines = [{ ...tenant.products[0], quantity: 1 }];

/** A key of the tenant's user, within some scopes. */
async function aKey(scopes: string[]): Promise<string> {
  return (await tenant.user.post('/auth/api-keys', { name: 'import', scopes }).expectData(201)).key;
}

function using(key: string, method: 'get' | 'post' | 'put', path: string, body?: object): TestRequest {
  return app.send((server) =>
    server[method](path).set({ 'X-API-Key': key, 'Idempotency-Key': randomUUID() }).send(body),
  );
}

const reads = ['/orders', '/orders/paginated', `/orders/${id}`, '/orders/export.csv', '/stock', '/payments'];

describe('an API key', () => {
  it('reads orders, stock and payments of its owner with orders:read, and changes nothing with it', async () => {
    const key = await aKey(['orders:read']);
    for (const path of reads) expect([path, (await using(key, 'get', `/api/v1${path}`)).status]).toEqual([path, 200]);
    expect(await using(key, 'get', '/api/v1/orders').expectData()).toMatchObject([{ id }]);
    for (const [method, path] of [
      ['post', '/api/v1/orders'],
      ['put', `/api/v1/orders/${id}`],
      ['post', `/api/v1/orders/${id}/place`],
      ['post', `/api/v1/orders/${id}/cancel`],
      ['post', `/api/v1/orders/${id}/pay`],
    ] as const) {
      await using(key, method, path, { lines }).expectError(403, 'This needs the scope orders:write');
    }
  });

  it('orders and places with orders:write, and reads nothing with it', async () => {
    const key = await aKey(['orders:write']);
    const made = await using(key, 'post', '/api/v1/orders', { lines }).expectData(201);
    expect(await using(key, 'post', `/api/v1/orders/${made.id}/place`).expectData()).toMatchObject({
      status: 'placed',
    });
    for (const path of reads) {
      await using(key, 'get', `/api/v1${path}`).expectError(403, 'This needs the scope orders:read');
    }
    await using(key, 'post', '/api/v1/stock', {}).expectError(403, 'Your role does not allow this');
  });

  it('is offered these scopes in the API document', async () => {
    const { paths } = (await app.get('/api-docs.json')).body;
    expect(paths['/api/v1/orders'].get.security).toContainEqual({ apiKey: [] });
    expect(paths['/api/v1/orders/{id}/place'].post.description).toContain('Needs the scope `orders:write`');
  });
});
