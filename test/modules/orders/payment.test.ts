import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { act, aDraft, aTenant, beyondScopes, memberOf, notice, openOrderShop } from '../support/order-shop.ts';

const { app, provider } = await openOrderShop();
const tenant = await aTenant(app, 1000);
const [product] = await app.get('/api/v1/products/paginated', { pageSize: 1 }).expectData();

beforeEach(() => {
  provider.outcome = 'succeeded';
});

/** An order that can be paid. */
async function placed(client = tenant.user): Promise<string> {
  const { id } = await aDraft(client, tenant.products, 2);
  await act(client, 'place', id).expectData();
  return id;
}

const statusOf = async (id: string) => (await tenant.user.get(`/api/v1/orders/${id}`).expectData()).status;
const paymentsOf = (orderId: string) => tenant.user.get('/api/v1/payments', { where: { orderId } }).expectData();
const chargesOf = async (orderId: string) => {
  const payments: { id: string }[] = await paymentsOf(orderId);
  return payments.flatMap(({ id }) => provider.charges.get(id) ?? []);
};

/** Nobody has asked for these payments in the meantime. */
async function sixMinutesPass(ids: string[]): Promise<void> {
  const data = { updatedAt: new Date(Date.now() - 6 * 60_000) };
  await beyondScopes(app, (orm) => orm.payment.updateMany({ where: { id: { in: ids } }, data }));
}

describe('POST /orders/:id/pay', () => {
  it('charges what the lines cost, and the order is paid', async () => {
    const id = await placed();
    expect(await act(tenant.user, 'pay', id).expectData()).toMatchObject({
      id,
      status: 'paid',
      paidAt: expect.any(String),
    });
    expect(await chargesOf(id)).toEqual([{ amount: 2 * product.price, status: 'succeeded' }]);
    expect(await paymentsOf(id)).toMatchObject([{ amount: 2 * product.price, status: 'succeeded' }]);
  });

  it('charges once, however often it is sent, with an Idempotency-Key or without', async () => {
    const id = await placed();
    const keys = [{}, {}, { 'Idempotency-Key': 'a' }, { 'Idempotency-Key': 'a' }, { 'Idempotency-Key': 'b' }];
    const answers = await Promise.all(keys.map((headers) => act(tenant.user, 'pay', id, headers)));
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(await chargesOf(id)).toHaveLength(1);
    expect(await paymentsOf(id)).toHaveLength(1);
    await act(tenant.user, 'pay', id).expectError(409, 'An order that is paid cannot become paying');
  });

  it('charges once where the answer of the provider got lost, whoever asks again', async () => {
    const id = await placed();
    provider.outcome = 'lost';
    await act(tenant.user, 'pay', id).expectError(502, 'Bad Gateway');
    expect(await statusOf(id)).toBe('paying');
    await act(tenant.user, 'cancel', id).expectError(409, 'An order that is paying cannot become cancelled');
    provider.outcome = 'succeeded';
    expect(await act(tenant.user, 'pay', id).expectData()).toMatchObject({ status: 'paid' });
    expect(await chargesOf(id)).toHaveLength(1);
  });

  it('answers 502 where the answer of the provider is longer than any of a charge, and can be paid later', async () => {
    const id = await placed();
    const { answer } = provider.peer;
    provider.peer.answer = (res) =>
      res
        .writeHead(201, { 'content-type': 'application/json' })
        .end(JSON.stringify({ reference: 'x'.repeat(200_000) }));
    await act(tenant.user, 'pay', id)
      .expectError(502, 'Bad Gateway')
      .finally(() => {
        provider.peer.answer = answer;
      });
    expect(await act(tenant.user, 'pay', id).expectData()).toMatchObject({ status: 'paid' });
    expect(await chargesOf(id)).toHaveLength(1);
  });

  it.each<[string, type: string, body: (reference: string) => string]>([
    ['a page of a proxy', 'text/html', () => '<html>'],
    ['nothing of a charge', 'application/json', () => 'null'],
    ['another charge', 'application/json', () => JSON.stringify({ reference: randomUUID(), status: 'succeeded' })],
    ['an unknown status', 'application/json', (reference) => JSON.stringify({ reference, status: 'lost' })],
  ])('answers 502 where the provider answers %s, and the order is not paid', async (_what, type, body) => {
    const id = await placed();
    const { answer } = provider.peer;
    provider.peer.answer = (res, { body: sent }) =>
      res.writeHead(201, { 'content-type': type }).end(body(JSON.parse(String(sent)).reference));
    await act(tenant.user, 'pay', id)
      .expectError(502, 'Bad Gateway')
      .finally(() => {
        provider.peer.answer = answer;
      });
    expect(await statusOf(id)).toBe('paying');
    expect(await paymentsOf(id)).toMatchObject([{ status: 'pending' }]);
  });

  it.each([
    ['missing', null],
    ['too long', { reason: 'x'.repeat(501) }],
    ['not to be stored', { reason: 'No\0funds' }],
    ['no text', { reason: { no: 'funds' } }],
  ])('declines also where the provider gives a reason that is %s', async (_what, data) => {
    const id = await placed();
    const { answer } = provider.peer;
    provider.peer.answer = (res) =>
      res.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify(data));
    await act(tenant.user, 'pay', id)
      .expectError(409, 'The payment was declined', { reason: null })
      .finally(() => {
        provider.peer.answer = answer;
      });
    expect(await statusOf(id)).toBe('declined');
  });

  it('answers 409 with the reason where the provider declines, and the order can be paid again or cancelled', async () => {
    const id = await placed();
    provider.outcome = 'declined';
    await act(tenant.user, 'pay', id).expectError(409, 'The payment was declined', { reason: 'No funds' });
    expect(await statusOf(id)).toBe('declined');
    provider.outcome = 'succeeded';
    await act(tenant.user, 'pay', id).expectData();
    const statuses = (await paymentsOf(id)).map(({ status }: { status: string }) => status);
    expect(statuses.sort()).toEqual(['failed', 'succeeded']);
    expect(await chargesOf(id)).toHaveLength(1);
  });

  it('is not for a draft', async () => {
    const { id } = await aDraft(tenant.user, tenant.products, 1);
    await act(tenant.user, 'pay', id).expectError(409, 'An order that is draft cannot become paying');
    expect(await paymentsOf(id)).toEqual([]);
  });
});

describe('POST /webhooks/payments', () => {
  async function pending() {
    const id = await placed();
    provider.outcome = 'pending';
    expect(await act(tenant.user, 'pay', id).expectData()).toMatchObject({ status: 'paying' });
    const [{ id: reference }] = await paymentsOf(id);
    return { id, reference };
  }

  it('settles a payment, and the same notice again changes nothing', async () => {
    const { id, reference } = await pending();
    expect((await notice(app, { reference, status: 'succeeded' })).status).toBe(204);
    const order = await tenant.user.get(`/api/v1/orders/${id}`).expectData();
    expect(order.status).toBe('paid');
    // Another signature, as a provider makes one for each delivery.
    expect((await notice(app, { reference, status: 'succeeded' }, { at: Date.now() - 2000 })).status).toBe(204);
    expect(await tenant.user.get(`/api/v1/orders/${id}`).expectData()).toEqual(order);
  });

  it('refuses another outcome than the one before, a payment that there is not, and who has not signed', async () => {
    const { id, reference } = await pending();
    await notice(app, { reference, status: 'failed', reason: 'Stolen' });
    expect(await statusOf(id)).toBe('declined');
    await notice(app, { reference, status: 'succeeded' }).expectError(409, 'This payment has failed');
    await notice(app, { reference: randomUUID(), status: 'succeeded' }).expectError(404, /not found/i);
    const forged = { key: 'another secret of sixteen' };
    await notice(app, { reference, status: 'succeeded' }, forged).expectError(401, /signature/i);
    expect(await statusOf(id)).toBe('declined');
  });
});

describe('a payment that is asked for anew after minutes, while the job asks the provider for it', () => {
  it('is charged once, and the order is paid', async () => {
    const id = await placed();
    provider.outcome = 'pending';
    await act(tenant.user, 'pay', id).expectData();
    const [payment] = await paymentsOf(id);
    provider.charges.delete(payment.id);
    await sixMinutesPass([payment.id]);
    const { paymentService } = app.service.container.cradle;
    const settle = () => app.service.run(() => paymentService.settleAbandoned(AbortSignal.timeout(60_000)));
    // The provider has not heard of it yet when the job asks.
    await act(tenant.user, 'pay', id).expectData();
    provider.charges.delete(payment.id);
    await settle();
    expect(await statusOf(id)).toBe('paying');
    provider.outcome = 'succeeded';
    await act(tenant.user, 'pay', id).expectData();
    expect(await statusOf(id)).toBe('paid');
    expect(await paymentsOf(id)).toHaveLength(1);
  });
});

describe('a payment whose outcome nobody told', () => {
  it('is settled by what the provider says, also where two replicas ask', async () => {
    const [known, unknown, young] = [await placed(), await placed(), await placed()];
    provider.outcome = 'pending';
    for (const id of [known, unknown, young]) await act(tenant.user, 'pay', id).expectData();
    const [[a], [b]] = [await paymentsOf(known), await paymentsOf(unknown)];
    provider.charges.set(a.id, { amount: a.amount, status: 'succeeded' });
    provider.charges.delete(b.id);
    await sixMinutesPass([a.id, b.id]);
    const { paymentService } = app.service.container.cradle;
    const settle = () => app.service.run(() => paymentService.settleAbandoned(AbortSignal.timeout(60_000)));
    await Promise.all([settle(), settle()]);
    expect([await statusOf(known), await statusOf(unknown), await statusOf(young)]).toEqual([
      ...['paid', 'declined', 'paying'],
    ]);
  });

  it.each([
    ['no status', { status: undefined }],
    ['a status that there is not', { status: 'refunded' }],
    ['another charge', { reference: randomUUID(), status: 'succeeded' }],
  ])('is not settled where the provider answers with %s', async (_what, answer) => {
    const id = await placed();
    provider.outcome = 'pending';
    await act(tenant.user, 'pay', id).expectData();
    const [payment] = await paymentsOf(id);
    provider.charges.set(payment.id, { amount: payment.amount, ...answer } as never);
    await sixMinutesPass([payment.id]);
    const { paymentService } = app.service.container.cradle;
    const settle = app.service.run(() => paymentService.settleAbandoned(AbortSignal.timeout(60_000)));
    await expect(settle).rejects.toThrow('1 records failed');
    expect([await statusOf(id), (await paymentsOf(id))[0].status]).toEqual(['paying', 'pending']);
    provider.charges.set(payment.id, { amount: payment.amount, status: 'succeeded' });
    await app.service.run(() => paymentService.settleAbandoned(AbortSignal.timeout(60_000)));
    expect(await statusOf(id)).toBe('paid');
  });

  it('is settled also where the provider says of an older one what nobody understands', async () => {
    const [odd, known] = [await placed(), await placed()];
    provider.outcome = 'pending';
    for (const id of [odd, known]) await act(tenant.user, 'pay', id).expectData();
    const [[a], [b]] = [await paymentsOf(odd), await paymentsOf(known)];
    provider.charges.set(a.id, { amount: a.amount, status: 'lost in the mail' });
    provider.charges.set(b.id, { amount: b.amount, status: 'succeeded' });
    await sixMinutesPass([a.id, b.id]);
    const { paymentService } = app.service.container.cradle;
    const settle = app.service.run(() => paymentService.settleAbandoned(AbortSignal.timeout(60_000)));
    await expect(settle).rejects.toThrow('1 records failed');
    expect([await statusOf(odd), await statusOf(known)]).toEqual(['paying', 'paid']);
  });
});

describe('another tenant', () => {
  it('neither sees the payments of an order nor pays for it', async () => {
    const id = await placed();
    await act(tenant.user, 'pay', id).expectData();
    const [{ id: payment }] = await paymentsOf(id);
    const stranger = await memberOf(app, randomUUID(), 'admin');
    const colleague = await memberOf(app, tenant.id);
    for (const client of [stranger, colleague]) {
      expect(await client.get('/api/v1/payments').expectData()).toEqual([]);
      await client.get(`/api/v1/payments/${payment}`).expectError(404, /not found/i);
    }
    expect(await tenant.admin.get(`/api/v1/payments/${payment}`).expectData()).toMatchObject({ orderId: id });
  });
});
