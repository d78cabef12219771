import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runAs } from '../../../../src/chassis/context/run-as.ts';
import { databaseProviders } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';
import { aCaller, emptyShop, fillShop, type TenantShop, tenantModels } from '../../../support/tenant-shop.ts';

const models = await tenantModels();
afterAll(models.remove);

const a = aCaller('a');

describe.each(databaseProviders)('writes within a scope on %s', (provider) => {
  let shop: TenantShop;
  beforeAll(async () => {
    shop = await models.open(provider);
  });
  afterAll(() => shop.close());
  beforeEach(async () => {
    await emptyShop(shop);
    await fillShop(shop);
  });

  const create = (data: object) => runAs(a, () => shop.notes.own.note.create({ data: { text: 'x', ...data } }));
  const status = async (work: () => PromiseLike<unknown>) =>
    (await runAs(a, () => raised(async () => await work()))).statusCode;
  const stored = (where: object = {}) =>
    shop.all((client) => client.note.findMany({ where, orderBy: { id: 'asc' } })) as Promise<Record<string, unknown>[]>;

  it('keep to it in nested writes', async () => {
    await runAs(a, async () => {
      await shop.orders.own.customer.update({
        where: { id: 101 },
        data: {
          orders: { create: [{ number: 'nested', ownerId: 'a' }], updateMany: { where: {}, data: { secret: 'mine' } } },
        },
      });
      await shop.orders.own.order.update({ where: { id: 104 }, data: { tags: { set: [{ id: 101 }] } } });
      const alien = () =>
        shop.orders.own.order.update({ where: { id: 104 }, data: { customer: { update: { name: 'stolen' } } } });
      expect((await raised(alien)).statusCode).toBe(409);
    });
    const rows = (await shop.all((client) => client.order.findMany({ where: { secret: 'mine' } }))) as {
      tenantId: string;
    }[];
    expect(rows.map(({ tenantId }) => tenantId)).not.toContain('b');
    expect(await shop.all((client) => client.order.count({ where: { number: 'nested', tenantId: 'a' } }))).toBe(1);
    expect(await shop.all((client) => client.customer.count({ where: { name: 'stolen' } }))).toBe(0);
  });

  it('keep columns null that the scope wants to be null, whether a body names the column or a relation', async () => {
    const newcomer = aCaller('a', 'a-admin', 'admin', 'newcomer');
    const orders = shop.orders.own.order;
    const values = { number: 'new', ownerId: 'a', customerId: 101 };
    const foreign = [{ secret: 'x' }, { reviewerId: 1 }, { reviewer: { connect: { id: 1 } } }];
    await runAs(newcomer, async () => {
      const { id } = await orders.create({ data: { ...values, secret: null } });
      for (const more of foreign) {
        const { customerId, ...others } = values;
        const data = 'reviewer' in more ? { ...others, customer: { connect: { id: customerId } } } : values;
        const writes = [
          () => orders.create({ data: { ...data, ...more } }),
          () => orders.update({ where: { id }, data: more }),
        ];
        for (const write of writes) expect((await raised(async () => await write())).statusCode).toBe(403);
      }
      const many = () => orders.createMany({ data: [values, { ...values, secret: 'x' }] });
      expect((await raised(async () => await many())).statusCode).toBe(403);
      expect(await orders.update({ where: { id }, data: { number: 'changed' } })).toMatchObject({ number: 'changed' });
      await shop.orders.delete(id);
    });
    expect(await shop.all((client) => client.order.count({ where: { number: 'new' } }))).toBe(0);
  });

  it('keep columns null that the scope wants to be null in rows that a nested write reaches, from either side', async () => {
    const newcomer = aCaller('a', 'a-admin', 'admin', 'newcomer');
    const { customer, order } = shop.orders.own;
    const values = { number: 'nested', ownerId: 'a' };
    const whole = { ...values, customer: { connect: { id: 101 } } };
    await runAs(newcomer, async () => {
      const update = (orders: object) => () => customer.update({ where: { id: 101 }, data: { orders } });
      await update({ create: { ...values, secret: null } })();
      const { id } = await order.findFirst({ where: { number: 'nested' } });
      const review = (orders: object) => () => shop.orders.own.reviewer.update({ where: { id: 1 }, data: { orders } });
      const writes = [
        ...[{ secret: 'x' }, { reviewer: { connect: { id: 1 } } }].flatMap((more) => [
          update({ create: [values, { ...values, ...more }] }),
          update({ update: { where: { id }, data: more } }),
          update({ connectOrCreate: { where: { id: 0 }, create: { ...values, ...more } } }),
        ]),
        update({ createMany: { data: [{ ...values, secret: 'x' }] } }),
        update({ updateMany: { where: {}, data: { reviewerId: 1 } } }),
        review({ connect: { id } }),
        review({ create: whole }),
      ];
      for (const write of writes) expect((await raised(async () => await write())).statusCode).toBe(403);
      await update({ update: { where: { id }, data: { number: 'changed', reviewer: { disconnect: true } } } })();
    });
    const [found, ...others] = (await shop.all((client) =>
      client.order.findMany({ where: { number: { in: ['nested', 'changed'] } } }),
    )) as Record<string, unknown>[];
    expect([found, others]).toMatchObject([{ number: 'changed', secret: null, reviewerId: null, tenantId: 'a' }, []]);
  });

  it('keep rows out of it where they are when others are set in their place', async () => {
    const reviewed = () => shop.all((client) => client.order.findMany({ where: { reviewerId: 1 } }));
    const before = await reviewed();
    const set = () => shop.orders.own.reviewer.update({ where: { id: 1 }, data: { orders: { set: [] } } });
    expect((await runAs(a, () => raised(async () => await set()))).message).toContain('connect and disconnect');
    expect(await reviewed()).toEqual(before);
  });

  it('keep a key that the scope fixes, whatever relation a body names', async () => {
    expect(await create({ firm: { connect: { id: 'a' } } })).toMatchObject({ firmId: 'a' });
    expect(await create({ reviewer: { connect: { id: 1 } } })).toMatchObject({ firmId: 'a', reviewerId: 1 });
    const { id } = (await create({ text: 'mine' })) as { id: number };
    const alien = [
      { connect: { id: 'b' } },
      { create: { id: 'c', name: '' } },
      { connectOrCreate: { where: { id: 'b' }, create: { id: 'b', name: '' } } },
    ];
    for (const firm of alien) {
      expect(await status(() => create({ firm }))).toBeGreaterThanOrEqual(403);
      expect(await status(() => shop.notes.own.note.update({ where: { id }, data: { firm } }))).toBeGreaterThanOrEqual(
        403,
      );
    }
    await runAs(
      a,
      async () => await shop.notes.own.note.update({ where: { id }, data: { firm: { update: { name: 'renamed' } } } }),
    );
    expect(await stored({ NOT: { firmId: 'a' } })).toEqual([]);
    expect(await shop.all((client) => client.firm.findMany({ orderBy: { id: 'asc' } }))).toMatchObject([
      { name: 'renamed' },
      { id: 'b' },
    ]);
    expect(await status(() => shop.notes.own.note.update({ where: { id }, data: { firm: { delete: true } } }))).toBe(
      403,
    );
  });

  it('are signed by who acts, whatever relation a body names', async () => {
    const other = { connect: { id: 'b-admin' } };
    const { id } = (await create({ createdBy: other, updatedBy: { create: { id: 'c', name: '' } } })) as { id: number };
    const signed = { createdById: 'a-admin', updatedById: 'a-admin' };
    expect(await stored({ id })).toMatchObject([signed]);
    const data = { createdBy: { disconnect: true }, updatedBy: other, reviewer: { connect: { id: 1 } } };
    await runAs(a, async () => await shop.notes.own.note.update({ where: { id }, data }));
    expect(await stored({ id })).toMatchObject([{ ...signed, reviewerId: 1 }]);
  });

  it('are undone where a row would be out of a scope that is more than fixed values', async () => {
    const { note } = shop.notes.own;
    const { id } = (await create({ text: 'kept' })) as { id: number };
    const high = { text: 'high', level: 9 };
    expect(await status(() => note.create({ data: high }))).toBe(403);
    expect(await status(() => note.createMany({ data: [{ text: 'low' }, high] }))).toBe(403);
    expect(await status(() => note.createManyAndReturn({ data: [{ text: 'low' }, high] }))).toBe(403);
    expect(await status(() => note.update({ where: { id }, data: high }))).toBe(403);
    expect(await status(() => note.updateMany({ data: high }))).toBe(403);
    expect(await status(() => note.upsert({ where: { id: 0 }, create: high, update: {} }))).toBe(403);
    expect(await status(() => note.upsert({ where: { id }, create: high, update: high }))).toBe(403);
    expect(await stored()).toMatchObject([{ text: 'kept', level: 0 }]);
    const inUnit = () =>
      shop.notes.unitOfWork(async () => {
        const { note: inside } = shop.notes.own;
        await inside.create({ data: { text: 'first' } });
        await raised(async () => await inside.updateMany({ data: high }));
        return inside.count();
      });
    expect(await runAs(a, inUnit)).toBe(2);
    expect(await stored({ level: 9 })).toEqual([]);
  });

  it('give what they give without a scope', async () => {
    const { note } = shop.notes.own;
    await runAs(a, async () => {
      expect(await note.createMany({ data: [{ text: 'one' }, { text: 'two' }] })).toEqual({ count: 2 });
      expect(await note.updateMany({ where: { text: 'one' }, data: { text: '1' } })).toEqual({ count: 1 });
      expect(await note.createManyAndReturn({ data: [{ text: 'x' }], select: { text: true } })).toEqual([
        { text: 'x' },
      ]);
      expect(await note.create({ data: { text: 'y' }, select: { text: true } })).toEqual({ text: 'y' });
      expect(await note.updateMany({ where: { text: 'none' }, data: { text: '1' } })).toEqual({ count: 0 });
    });
  });

  it('reach nested rows of a scope that looks through relations', async () => {
    const { order, customer } = shop.orders.own;
    const lines = () =>
      shop.all((client) => client.line.findMany({ orderBy: { id: 'asc' } })) as Promise<
        { id: number; label: string }[]
      >;
    const before = await lines();
    const change = { updateMany: { where: { label: { contains: 'line' } }, data: { label: 'changed' } } };
    await runAs(a, async () => await order.update({ where: { id: 101 }, data: { lines: change } }));
    expect((await lines()).filter(({ label }) => label === 'changed').map(({ id }) => id)).toEqual([110]);
    const remove = { update: { where: { id: 102 }, data: { lines: { deleteMany: {} } } } };
    await runAs(a, async () => await customer.update({ where: { id: 101 }, data: { orders: remove } }));
    expect((await lines()).map(({ id }) => id)).toEqual(before.map(({ id }) => id).filter((id) => id !== 120));
  });
});
