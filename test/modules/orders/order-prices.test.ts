import { expect, it } from 'vitest';
import { act, aDraft, aTenant, openOrderShop, stockOf } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const tenant = await aTenant(app, 10, 5);
const [lamp] = tenant.products as [{ productId: string }];

it('is never placed at a price of before: a draft is refused until its lines are sent again', async () => {
  const order = await aDraft(tenant.user, tenant.products, 1, 1);
  const product = `/api/v1/products/${lamp.productId}`;
  const { price } = await tenant.admin.get(product).expectData();
  await tenant.admin.put(product, { price: price + 1 }).expectData();
  const before = await stockOf(tenant.user, lamp);
  await act(tenant.user, 'place', order.id).expectError(409, 'The prices have changed');
  expect(await stockOf(tenant.user, lamp)).toBe(before);
  const path = `/api/v1/orders/${order.id}`;
  expect(await tenant.user.get(path).expectData()).toMatchObject({ status: 'draft', totalCents: order.totalCents });
  const lines = tenant.products.map((line) => ({ ...line, quantity: 1 }));
  await tenant.user.put(path, { lines }).expectData();
  const placed = await act(tenant.user, 'place', order.id).expectData();
  expect(placed).toMatchObject({ status: 'placed', totalCents: order.totalCents + 1 });
});
