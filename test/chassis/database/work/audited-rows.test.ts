import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { runAs } from '../../../../src/chassis/context/run-as.ts';
import { databaseProviders } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';
import {
  aCaller,
  emptyShop,
  fillShop,
  OrderRepository,
  type TenantShop,
  tenantModels,
} from '../../../support/tenant-shop.ts';

const models = await tenantModels();
afterAll(models.remove);

class AuditedOrders extends OrderRepository {
  protected override readonly audit = { into: 'change' as 'product', mask: ['ownerId' as 'sku'] };
}

describe.each(databaseProviders)('the audit trail of a repository on %s', (provider) => {
  let shop: TenantShop;
  let orders: AuditedOrders;
  beforeAll(async () => {
    shop = await models.open(provider);
    orders = new AuditedOrders({ orm: shop.open.client });
  });
  afterAll(() => shop.close());
  beforeEach(async () => {
    await emptyShop(shop);
    await fillShop(shop);
  });

  const as = <T>(work: () => Promise<T>) =>
    runWithRequestContext({ requestId: 'r1', method: 'PUT', url: '/x', startTime: new Date() }, () =>
      runAs(aCaller('a'), work),
    );
  const trail = () => shop.all((client) => client.change.findMany({ orderBy: { id: 'asc' } })) as Promise<object[]>;
  const data = { number: 'one', ownerId: 'a-user', secret: 'hidden', customerId: 101 } as never;

  it('says who changed what, before and after, and no secret', async () => {
    await as(async () => {
      const { id } = await orders.create(data, { id: true });
      await orders.update(id, { number: 'two', secret: 'other' } as never, { number: true } as never);
      await orders.delete(id);
    });
    const whole = { model: 'Order', actorId: 'a-admin', requestId: 'r1' };
    expect(await trail()).toMatchObject([
      {
        ...whole,
        action: 'create',
        before: null,
        after: { number: 'one', ownerId: '[redacted]', secret: '[redacted]', tenantId: 'a' },
      },
      { ...whole, action: 'update', before: { number: 'one', version: 1 }, after: { number: 'two', version: 2 } },
      { ...whole, action: 'delete', before: { number: 'two', customerId: 101 }, after: null },
    ]);
    const [, changed] = (await trail()) as [object, { after: object }];
    expect(Object.keys(changed.after).sort()).toEqual(['number', 'secret', 'version']);
    expect(JSON.stringify(await trail())).not.toMatch(/hidden|a-user/);
  });

  it('is stored with the change or not at all', async () => {
    const foreign = { number: 'one', ownerId: 'a', customerId: 201 } as never;
    expect((await as(() => raised(() => orders.create(foreign)))).statusCode).toBe(409);
    expect((await as(() => raised(() => orders.update(201 as never, { number: 'x' } as never)))).statusCode).toBe(404);
    expect((await as(() => raised(() => orders.delete(999 as never)))).statusCode).toBe(404);
    const late = () => orders.update(101 as never, { number: 'x' } as never, undefined, { version: 7 });
    expect((await as(() => raised(late))).statusCode).toBe(412);
    const undone = () =>
      orders.unitOfWork(async () => {
        await orders.update(101 as never, { number: 'x' } as never);
        throw new Error('undone');
      });
    expect((await as(() => raised(undone))).message).toBe('undone');
    expect(await trail()).toEqual([]);
  });

  it.each([
    ['by themselves', (work: () => Promise<unknown>) => work()],
    [
      'in units that see what others store',
      (work: () => Promise<unknown>) => orders.unitOfWork(work, { isolation: 'read-committed' }),
    ],
  ])('has each of many changes at the same time, one upon the other, %s', async (_how, run) => {
    const change = (n: number) => run(() => orders.update(101 as never, { number: `by ${n}` } as never));
    const done = await as(() => Promise.allSettled([1, 2, 3].map(change)));
    const succeeded = done.filter(({ status }) => status === 'fulfilled').length;
    const versions = ((await trail()) as { before: { version: number }; after: { version: number } }[]).map(
      ({ before, after }) => [before.version, after.version],
    );
    expect(versions).toEqual(Array.from({ length: succeeded }, (_, index) => [index + 1, index + 2]));
    expect(succeeded).toBeGreaterThan(0);
  });
});
