import { beforeAll, describe, expect, it } from 'vitest';
import { aProduct } from '../../support/samples.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const tooHigh = 100_000_001;
let categoryId: string;

beforeAll(async () => {
  [{ id: categoryId }] = await app.get('/api/v1/categories').expectData();
});

describe('the price of a product', () => {
  it('may reach the limit', async () => {
    await app
      .as('admin')
      .post('/api/v1/products', aProduct({ categoryId, price: tooHigh - 1 }))
      .expectData(201);
  });

  it('above the limit is refused at creation and stores nothing', async () => {
    const before = await app.count('product');
    await app
      .as('admin')
      .post('/api/v1/products', aProduct({ categoryId, price: tooHigh }))
      .expectError(400, 'A product costs at most 1,000,000.00');
    expect(await app.count('product')).toBe(before);
  });

  it('above the limit is refused at a change and changes nothing', async () => {
    const { id } = await app
      .as('admin')
      .post('/api/v1/products', aProduct({ categoryId, price: 5 }))
      .expectData(201);
    await app
      .as('admin')
      .put(`/api/v1/products/${id}`, { price: tooHigh, name: 'Other' })
      .expectError(400, 'A product costs at most 1,000,000.00');
    expect(await app.get(`/api/v1/products/${id}`).expectData()).toMatchObject({ price: 5, name: 'Test product' });
  });
});
