import { beforeEach, expect, it } from 'vitest';
import { act, aDraft, aTenant, beyondScopes, openOrderShop, stockOf } from '../support/order-shop.ts';

const { app, provider } = await openOrderShop();
const tenant = await aTenant(app, 1000);
const [lamp] = tenant.products as [{ productId: string }];
/** How long PostgreSQL has transactions wait for each other before it looks for a deadlock. */
const deadlockMs = 1000;

beforeEach(() => {
  provider.outcome = 'succeeded';
});

async function placed(): Promise<string> {
  const { id } = await aDraft(tenant.user, tenant.products, 2);
  await act(tenant.user, 'place', id).expectData();
  return id;
}

it('is not for an order that was placed too long ago, so that who asks again and again never keeps its stock', async () => {
  const before = await stockOf(tenant.user, lamp);
  const id = await placed();
  provider.outcome = 'pending';
  await act(tenant.user, 'pay', id).expectData();
  const [payment] = await tenant.user.get('/api/v1/payments', { where: { orderId: id } }).expectData();
  provider.charges.delete(payment.id);
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 1);
  await beyondScopes(app, async (orm) => {
    await orm.order.updateMany({ where: { id }, data: { placedAt: ago(60) } });
    await orm.payment.updateMany({ where: { id: payment.id }, data: { updatedAt: ago(6) } });
  });
  await act(tenant.user, 'pay', id).expectError(409, 'This order is too old to pay');
  expect(provider.charges.has(payment.id)).toBe(false);
  const { orderService, paymentService } = app.service.container.cradle;
  await app.service.run(() => paymentService.settleAbandoned(AbortSignal.timeout(60_000)));
  await app.service.run(() => orderService.expireUnpaid(AbortSignal.timeout(60_000)));
  expect(await tenant.user.get(`/api/v1/orders/${id}`).expectData()).toMatchObject({ status: 'expired' });
  expect(await stockOf(tenant.user, lamp)).toBe(before);
});

it('is asked for again only minutes later where it is still under way, so that many of them keep no other from its turn', async () => {
  const ids = [await placed(), await placed(), await placed(), await placed(), await placed()];
  provider.outcome = 'pending';
  for (const id of ids) await act(tenant.user, 'pay', id).expectData();
  const pays = { where: { orderId: { in: ids } } };
  const payments: { id: string; amount: number; orderId: string }[] = await tenant.user
    .get('/api/v1/payments', pays)
    .expectData();
  const last = payments.find(({ orderId }) => orderId === ids.at(-1)) as (typeof payments)[number];
  provider.charges.set(last.id, { amount: last.amount, status: 'succeeded' });
  await beyondScopes(app, (orm) =>
    orm.payment.updateMany({ ...pays, data: { updatedAt: new Date(Date.now() - 6 * 60_000) } }),
  );
  const { paymentService } = app.service.container.cradle;
  const { answer } = provider.peer;
  for (let run = 0; run < 3; run += 1) {
    // Each has time for two of them.
    const timeUp = new AbortController();
    let asked = 0;
    provider.peer.answer = (res, received) => {
      asked += 1;
      if (asked === 2) timeUp.abort();
      answer?.(res, received);
    };
    await app.service.run(() => paymentService.settleAbandoned(timeUp.signal));
  }
  provider.peer.answer = answer;
  const orders = await Promise.all(ids.map((id) => tenant.user.get(`/api/v1/orders/${id}`).expectData()));
  expect(orders.map(({ status }) => status)).toEqual(['paying', 'paying', 'paying', 'paying', 'paid']);
});

it('never waits in a circle, however often an order is paid at once', async () => {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const id = await placed();
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 8 }, () => act(tenant.user, 'pay', id)));
    rounds.push(performance.now() - began);
    for (const { status } of answers) expect([200, 409]).toContain(status);
  }
  expect(Math.min(...rounds)).toBeLessThan(deadlockMs);
});
