import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { act, aDraft, aTenant, beyondScopes, memberOf, openOrderShop, stockOf } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const tenant = await aTenant(app, 10, 5, 0);
const [lamp, chair, nothing] = tenant.products as [{ productId: string }, { productId: string }, { productId: string }];

describe('a draft', () => {
  it('has an owner, a number and lines at the prices of now', async () => {
    const order = await aDraft(tenant.user, tenant.products, 2, 1);
    const path = `/api/v1/orders/${order.id}`;
    const found = await tenant.user.get(path, { include: { lines: { include: { product: true } } } }).expectData();
    expect(found).toMatchObject({ status: 'draft', version: 1, placedAt: null });
    const prices = found.lines.map(({ price, product }: { price: number; product: { price: number } }) => [
      price,
      product.price,
    ]);
    expect(prices).toHaveLength(2);
    for (const [price, now] of prices) expect(price).toBe(now);
  });

  it('is refused with a product that there is not, or twice the same, and nothing of it is stored', async () => {
    const count = () => beyondScopes(app, (orm) => orm.order.count());
    const before = await count();
    const lines = [{ productId: randomUUID(), quantity: 1 }];
    const unknown = { errors: { 'lines.0.productId': ['There is no such product'] } };
    await tenant.user.post('/api/v1/orders', { lines }).expectError(400, 'Validation Failed', unknown);
    const twice = { lines: [1, 2].map((quantity) => ({ ...lamp, quantity })) };
    await tenant.user.post('/api/v1/orders', twice).expectError(400, 'Validation Failed');
    expect(await count()).toBe(before);
  });

  it('is refused where it costs more than anybody can pay', async () => {
    const dear = await app.get('/api/v1/products', { where: { price: { gte: 300_000 } } }).expectData();
    const lines = dear.slice(0, 10).map(({ id }: { id: string }) => ({ productId: id, quantity: 10_000 }));
    await tenant.user.post('/api/v1/orders', { lines }).expectError(400, 'An order costs at most 20,000,000.00');
  });

  it('can be changed by who has seen its present version, and by nobody else', async () => {
    const { id } = await aDraft(tenant.user, tenant.products, 1);
    const put = (tag: string, note: string) =>
      tenant.user.send((server) => server.put(`/api/v1/orders/${id}`).set('If-Match', tag).send({ note }));
    expect((await put('"1"', 'first')).headers['etag']).toBe('"2"');
    await put('"1"', 'second').expectError(412, /changed this order meanwhile/);
    expect(await tenant.user.get(`/api/v1/orders/${id}`).expectData()).toMatchObject({ note: 'first', version: 2 });
  });

  it('is in the audit trail with who made and changed it', async () => {
    const { id, ownerId } = await aDraft(tenant.user, tenant.products, 1);
    await tenant.user.put(`/api/v1/orders/${id}`, { note: 'by the door' }).expectData();
    const changes = await beyondScopes(app, (orm) =>
      orm.change.findMany({ where: { recordId: id }, orderBy: { createdAt: 'asc' } }),
    );
    expect(changes).toMatchObject([
      { model: 'Order', action: 'create', actorId: ownerId },
      { model: 'Order', action: 'update', actorId: ownerId, before: { note: null }, after: { note: 'by the door' } },
    ]);
  });
});

describe('placing', () => {
  it('takes the stock of all lines once, however often it is sent with one Idempotency-Key', async () => {
    const order = await aDraft(tenant.user, tenant.products, 2, 1);
    const before = [await stockOf(tenant.user, lamp), await stockOf(tenant.user, chair)];
    const sent = Array.from({ length: 5 }, () => act(tenant.user, 'place', order.id, { 'Idempotency-Key': order.id }));
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect([await stockOf(tenant.user, lamp), await stockOf(tenant.user, chair)]).toEqual([
      (before[0] as number) - 2,
      (before[1] as number) - 1,
    ]);
  });

  it('of two tenants with the same Idempotency-Key is done for each', async () => {
    const other = await aTenant(app, 3);
    const body = { lines: [{ ...lamp, quantity: 1 }] };
    const create = (client: typeof tenant.user) =>
      client
        .send((server) => server.post('/api/v1/orders').set('Idempotency-Key', 'the-same').send(body))
        .expectData(201);
    const [mine, again, theirs] = [await create(tenant.user), await create(tenant.user), await create(other.user)];
    expect(again.id).toBe(mine.id);
    expect(theirs.id).not.toBe(mine.id);
    expect(await other.user.get('/api/v1/orders').expectData()).toMatchObject([{ id: theirs.id }]);
  });

  it('answers 409 to who places again, and takes nothing', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1);
    await act(tenant.user, 'place', order.id).expectData();
    const left = await stockOf(tenant.user, lamp);
    await act(tenant.user, 'place', order.id).expectError(409, 'An order that is placed cannot become placed');
    expect(await stockOf(tenant.user, lamp)).toBe(left);
  });

  it('takes all lines or none', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1, 1, 1);
    const left = await stockOf(tenant.user, lamp);
    await act(tenant.user, 'place', order.id).expectError(409, 'There is not enough in stock', {
      ...nothing,
      quantity: 1,
    });
    expect(await stockOf(tenant.user, lamp)).toBe(left);
    expect(await tenant.user.get(`/api/v1/orders/${order.id}`).expectData()).toMatchObject({ status: 'draft' });
  });

  it('never takes more than there is, whoever places at the same time', async () => {
    const other = await aTenant(app, 7, 7);
    const drafts = await Promise.all(
      // Half of them name the products the other way round.
      Array.from({ length: 12 }, (_, index) =>
        aDraft(other.user, index % 2 ? other.products : other.products.toReversed(), 1, 1),
      ),
    );
    const answers = await Promise.all(drafts.map(({ id }) => act(other.user, 'place', id)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(7).fill(200), ...Array(5).fill(409)]);
    for (const product of other.products) expect(await stockOf(other.user, product)).toBe(0);
  });

  it('is refused to who saw another version', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1);
    await tenant.user.put(`/api/v1/orders/${order.id}`, { note: 'changed' }).expectData();
    await act(tenant.user, 'place', order.id, { 'If-Match': '"1"' }).expectError(412, /changed this order meanwhile/);
    await act(tenant.user, 'place', order.id, { 'If-Match': '"2"' }).expectData();
  });

  it('tells the tenant what it is short of now', async () => {
    const other = await aTenant(app, 3);
    const [product] = other.products as [{ productId: string }];
    await act(other.user, 'place', (await aDraft(other.user, other.products, 2)).id).expectData();
    const low = () =>
      other.user.get('/api/v1/stock', { where: { lowSince: { gte: '2020-01-01T00:00:00Z' } } }).expectData();
    await expect.poll(low, { timeout: 20_000 }).toMatchObject([product]);
  });
});

describe('cancelling', () => {
  it('gives back what was taken, once', async () => {
    const order = await aDraft(tenant.user, tenant.products, 2);
    const before = await stockOf(tenant.user, lamp);
    await act(tenant.user, 'place', order.id).expectData();
    const answers = await Promise.all([1, 2, 3].map(() => act(tenant.user, 'cancel', order.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await stockOf(tenant.user, lamp)).toBe(before);
  });

  it('by deleting hides the order, also from its owner', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1);
    await act(tenant.user, 'place', order.id).expectData();
    const before = await stockOf(tenant.user, lamp);
    expect((await tenant.user.delete(`/api/v1/orders/${order.id}`)).status).toBe(204);
    await tenant.user.get(`/api/v1/orders/${order.id}`).expectError(404, /not found/i);
    expect(await stockOf(tenant.user, lamp)).toBe(before + 1);
    const kept = await beyondScopes(app, (orm) => orm.order.findUnique({ where: { id: order.id } }));
    expect(kept).toMatchObject({ status: 'cancelled', deletedAt: expect.any(Date) });
  });
});

describe('an order that is not paid', () => {
  it('expires with its stock given back, and only once, however many replicas run the job', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1);
    const before = await stockOf(tenant.user, lamp);
    await act(tenant.user, 'place', order.id).expectData();
    const { orderService } = app.service.container.cradle;
    const expire = () => app.service.run(() => orderService.expireUnpaid(AbortSignal.timeout(60_000)));
    await expire();
    expect(await tenant.user.get(`/api/v1/orders/${order.id}`).expectData()).toMatchObject({ status: 'placed' });
    const longAgo = new Date(Date.now() - 3_600_001);
    await beyondScopes(app, (orm) => orm.order.updateMany({ where: { id: order.id }, data: { placedAt: longAgo } }));
    await Promise.all([expire(), expire(), expire()]);
    expect(await tenant.user.get(`/api/v1/orders/${order.id}`).expectData()).toMatchObject({ status: 'expired' });
    expect(await stockOf(tenant.user, lamp)).toBe(before);
  });

  it('expires also where the stock of another tenant takes nothing back', async () => {
    const other = await aTenant(app, 10);
    const orders = [await aDraft(other.user, other.products, 1), await aDraft(tenant.user, tenant.products, 1)];
    const [full, order] = orders;
    await act(other.user, 'place', full.id).expectData();
    await act(tenant.user, 'place', order.id).expectData();
    const ofOther = { where: { tenantId: other.id } };
    await beyondScopes(app, async (orm) => {
      await orm.stock.updateMany({ ...ofOther, data: { available: 2 ** 31 - 1 } });
      await orm.order.updateMany({
        where: { id: { in: [full.id, order.id] } },
        data: { placedAt: new Date(Date.now() - 3_600_001) },
      });
    });
    const { orderService } = app.service.container.cradle;
    const expire = app.service.run(() => orderService.expireUnpaid(AbortSignal.timeout(60_000)));
    // SQLite counts on.
    if (app.service.settings.DATABASE_URL.startsWith('postgres'))
      await expect(expire).rejects.toThrow('1 records failed');
    else await expire;
    expect(await tenant.user.get(`/api/v1/orders/${order.id}`).expectData()).toMatchObject({ status: 'expired' });
  });
});

describe('another tenant', () => {
  it('neither sees nor touches an order, and an administrator of the same tenant does', async () => {
    const stranger = await memberOf(app, randomUUID(), 'admin');
    const colleague = await memberOf(app, tenant.id);
    const order = await aDraft(tenant.user, tenant.products, 1);
    for (const client of [stranger, colleague]) {
      await client.get(`/api/v1/orders/${order.id}`).expectError(404, /not found/i);
      await client.put(`/api/v1/orders/${order.id}`, { note: 'mine' }).expectError(404, /not found/i);
      expect((await client.delete(`/api/v1/orders/${order.id}`)).status).toBe(404);
      for (const what of ['place', 'cancel', 'pay']) await act(client, what, order.id).expectError(404, /not found/i);
    }
    expect(await tenant.admin.get(`/api/v1/orders/${order.id}`).expectData()).toMatchObject({ status: 'draft' });
  });

  it('cannot take the stock of this one', async () => {
    const stranger = await aTenant(app, 1);
    const before = await stockOf(tenant.user, chair);
    const { id } = await aDraft(stranger.user, [chair], 1);
    await act(stranger.user, 'place', id).expectError(409, 'There is not enough in stock');
    expect(await stockOf(tenant.user, chair)).toBe(before);
  });
});

describe('the export and the events', () => {
  it('give the orders of the caller and of nobody else', async () => {
    const other = await aTenant(app, 1);
    const { number } = await aDraft(other.user, other.products, 1);
    const { text, headers } = await other.user.get('/api/v1/orders/export.csv');
    expect(headers['content-type']).toContain('text/csv');
    expect(text.split('\r\n')).toEqual([
      'number,status,note,placedAt,paidAt,createdAt',
      expect.stringContaining(number),
      '',
    ]);
  });

  it('answer 404 to others who follow an order, and do not begin', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1);
    const other = await aTenant(app);
    await other.user.get(`/api/v1/orders/${order.id}/events`).expectError(404, 'Order not found');
  });

  it('tell each state of an order until the last one', async () => {
    const order = await aDraft(tenant.user, tenant.products, 1);
    const following = tenant.user.get(`/api/v1/orders/${order.id}/events`);
    const text = Promise.resolve(following).then((response) => response.text);
    await act(tenant.user, 'cancel', order.id).expectData();
    expect(await text).toContain('event: status\nid: 2\ndata: {"status":"cancelled"}');
  });
});
