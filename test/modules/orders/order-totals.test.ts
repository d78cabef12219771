import { describe, expect, it } from 'vitest';
import { act, aDraft, aTenant, openOrderShop } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const [tenant, other] = [await aTenant(app, 10, 10), await aTenant(app, 10, 10)];

type Line = { price: number; quantity: number; amount: number };
const costs = (lines: Line[]) => lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0);

describe('what an order costs', () => {
  it('is in each answer with orders: created, listed, paged, alone, acted upon and included', async () => {
    const created = await aDraft(tenant.user, tenant.products, 2, 3);
    const path = `/api/v1/orders/${created.id}`;
    const { lines, totalCents } = await tenant.user.get(path, { include: { lines: true } }).expectData();
    expect(totalCents).toBe(costs(lines));
    expect(totalCents).toBeGreaterThan(0);
    for (const { price, quantity, amount } of lines) expect(amount).toBe(price * quantity);
    const total = { id: created.id, totalCents };
    expect(created).toMatchObject(total);
    expect(await tenant.user.get('/api/v1/orders').expectData()).toContainEqual(expect.objectContaining(total));
    for (const query of [
      { orderBy: { number: 'asc' } },
      { cursor: '', orderBy: { number: 'asc' } },
      { q: created.number },
    ]) {
      const { data } = (await tenant.user.get('/api/v1/orders/paginated', { pageSize: 100, ...query } as never)).body;
      expect(data).toContainEqual(expect.objectContaining(total));
    }
    expect(await tenant.user.put(path, { note: 'x' }).expectData()).toMatchObject(total);
    expect(await act(tenant.user, 'place', created.id, { 'Idempotency-Key': 'k' }).expectData()).toMatchObject(total);
    expect(await act(tenant.user, 'pay', created.id, { 'Idempotency-Key': 'p' }).expectData()).toMatchObject(total);
    const [payment] = await tenant.user.get('/api/v1/payments', { include: { order: true } }).expectData();
    expect(payment.order).toMatchObject(total);
    const select = { totalCents: true };
    const [chosen] = await tenant.user.get('/api/v1/payments', { include: { order: { select } } }).expectData();
    expect(chosen.order).toEqual({ totalCents });
  });

  it('is added up by the database, which gives no line of a whole page', async () => {
    for (const quantity of [1, 2, 3]) await aDraft(other.user, other.products, quantity);
    const queries = async () => {
      const text = await (await fetch(`${app.internalUrl}/metrics`)).text();
      const found = text.matchAll(/^database_query_duration_seconds_count\{model="OrderLine",.*\} (\d+)$/gm);
      return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await queries();
    const orders = await other.user.get('/api/v1/orders').expectData();
    expect(orders.map(({ totalCents }: { totalCents: number }) => totalCents > 0)).toEqual([true, true, true]);
    expect((await queries()) - before).toBe(0);
  });

  it('is not told to another tenant, and not to be sorted or filtered by', async () => {
    const mine = (await tenant.user.get('/api/v1/orders').expectData()).map(({ id }: { id: string }) => id);
    const theirs = await other.admin.get('/api/v1/orders').expectData();
    expect(theirs.some(({ id }: { id: string }) => mine.includes(id))).toBe(false);
    for (const query of [{ orderBy: { totalCents: 'asc' } }, { where: { totalCents: { gte: 1 } } }]) {
      await tenant.user.get('/api/v1/orders', query as never).expectError(400, 'Invalid request data');
    }
  });

  it('answers with the version, and whole to If-None-Match, because lines may have changed', async () => {
    const { id } = await aDraft(tenant.user, tenant.products, 1);
    const asked = await tenant.user.send((server) => server.get(`/api/v1/orders/${id}`).set('If-None-Match', '"1"'));
    expect([asked.status, asked.headers['etag'], asked.body.data.totalCents > 0]).toEqual([200, '"1"', true]);
  });
});
