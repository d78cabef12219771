import { describe, expect, it } from 'vitest';
import { untilLockWait } from '../support/lock-wait.ts';
import { act, aDraft, aTenant, beyondScopes, openOrderShop } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const long = new Date('2026-01-01T00:00:00Z');

type Tenant = Awaited<ReturnType<typeof aTenant>>;

/** Since when a tenant has too little of its only product, and the row as it is. */
const stockOf = async ({ admin }: Tenant) => (await admin.get('/api/v1/stock').expectData())[0];

describe('a shortage', () => {
  it('ends with an order that is cancelled', async () => {
    const tenant = await aTenant(app, 3);
    const { id } = await aDraft(tenant.user, tenant.products, 2);
    await act(tenant.user, 'place', id).expectData();
    await expect.poll(async () => (await stockOf(tenant)).lowSince, { timeout: 20_000 }).not.toBeNull();
    await act(tenant.user, 'cancel', id).expectData();
    expect(await stockOf(tenant)).toMatchObject({ available: 3, lowSince: null });
  });

  it.each([
    ['that another replica tells of', { available: 1 }, { lowSince: long }],
    ['that ends meanwhile', { available: 1 }, { available: 5 }],
    ['that has ended and begins again meanwhile', { available: 5, lowSince: long }, { available: 1 }],
  ])('%s is not noted by who looked before', async (_which, before, meanwhile) => {
    const tenant = await aTenant(app, 5);
    const { stockRepository } = app.service.container.cradle;
    const { id, productId } = await stockOf(tenant);
    await beyondScopes(app, (orm) => orm.stock.update({ where: { id }, data: before }));
    const [changed, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const change = async () => {
      await stockRepository.update(id, meanwhile);
      changed.resolve();
      await seen.promise;
    };
    const changing = beyondScopes(app, () => stockRepository.unitOfWork(change));
    await changed.promise;
    const noting = beyondScopes(app, () =>
      stockRepository.noteShortage({ tenantId: tenant.id, productIds: [productId] }),
    );
    await untilLockWait(app);
    seen.resolve();
    await Promise.all([changing, noting]);
    const stored = await beyondScopes(app, (orm) => orm.stock.findUnique({ where: { id } }));
    expect(stored).toMatchObject({ lowSince: null, ...before, ...meanwhile });
  });
});
