import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { runAs, unscoped } from '../../../../src/chassis/context/run-as.ts';
import { raised } from '../../../support/raised.ts';
import { fields, forms, ids, list, withShop } from '../../../support/shop-orders.ts';
import { aCaller, type TenantShop, tenantModels } from '../../../support/tenant-shop.ts';

const models = await tenantModels();
afterAll(models.remove);

const a = aCaller('a');
const user = aCaller('a', 'a-user', 'user');

describe.each(forms)('a scope on $provider, read as $reads', (form) => {
  let shop: TenantShop;
  withShop(models, form, (opened) => {
    shop = opened;
  });

  it('gives the rows of the tenant and the owner that are not deleted, in lists, totals and single records', async () => {
    await runAs(a, async () => {
      expect(ids(await shop.orders.findMany(list(fields)))).toEqual([101, 102, 103, 104]);
      expect(await shop.orders.count()).toBe(4);
      expect(await shop.orders.findById(101 as never, fields)).toMatchObject({ id: 101 });
      for (const id of [105, 201, 999]) {
        expect(await shop.orders.findById(id as never, fields)).toBeNull();
        expect(await shop.orders.findById(id as never)).toBeNull();
      }
      expect(await runAs(user, async () => ids(await shop.orders.findMany(list(fields))))).toEqual([101]);
    });
  });

  it('gives related records in scope only, and null for one that is not', async () => {
    const select = {
      ...fields,
      customer: { select: { name: true } },
      reviewer: { select: { id: true, name: true } },
      tags: { select: { id: true }, orderBy: [{ id: 'asc' }], take: 10 },
      lines: { select: { label: true, order: { select: { number: true } } }, orderBy: [{ id: 'asc' }], take: 10 },
    };
    const rows = (await runAs(a, () => shop.orders.findMany(list(select)))) as unknown as Record<string, unknown>[];
    expect(rows.map(({ customer }) => (customer as { name: string } | null)?.name?.slice(0, 11) ?? null)).toEqual([
      'a-customer2',
      'a-customer1',
      'a-customer2',
      null,
    ]);
    expect(rows.map(({ reviewer }) => (reviewer as { name: string } | null)?.name ?? null)).toEqual([
      null,
      'rita',
      null,
      null,
    ]);
    expect(rows.map(({ tags }) => tags)).toEqual([[{ id: 101 }], [{ id: 101 }], [{ id: 101 }], [{ id: 101 }]]);
    expect(Object.keys(rows[0]?.customer as object)).toEqual(['name']);
    expect(rows[0]?.lines).toMatchObject([{ order: { number: expect.stringMatching(/^a-order1/) } }]);
  });

  it('holds in filters over relations: a record out of scope is as none', async () => {
    const found = (where: object) => runAs(a, async () => ids(await shop.orders.findMany(list(fields, { where }))));
    expect(await found({ customer: { name: { contains: 'b-' } } })).toEqual([]);
    expect(await found({ customer: { isNot: { name: { contains: 'a-' } } } })).toEqual([104]);
    expect(await found({ reviewer: { is: null } })).toEqual([101, 103, 104]);
    expect(await found({ reviewer: { isNot: null } })).toEqual([102]);
    expect(await found({ tags: { some: { id: { in: [201] } } } })).toEqual([]);
    const every = [{ id: { in: [101] } }, {}, { AND: [] }].map((one) => ({ tags: { every: one } }));
    expect(await found({ AND: every, tags: { none: { id: { in: [201] } } } })).toEqual([101, 102, 103, 104]);
    expect(await found({ NOT: { customer: { name: { contains: 'a-' } } } })).toEqual([104]);
    expect(await runAs(a, () => shop.orders.count({ OR: [{ lines: { some: {} } }, { id: 201 }] }))).toBe(4);
  });

  it('changes and deletes rows in scope only, and a deleted row is kept', async () => {
    const gone = (work: () => Promise<unknown>) => runAs(a, () => raised(work));
    for (const id of [105, 201, 999]) {
      expect(await gone(() => shop.orders.update(id as never, { number: 'x' } as never))).toMatchObject({
        statusCode: 404,
      });
      expect(await gone(() => shop.orders.delete(id as never))).toMatchObject({ statusCode: 404 });
    }
    await runAs(a, () => shop.orders.delete(101 as never));
    expect(await gone(() => shop.orders.delete(101 as never))).toMatchObject({ statusCode: 404 });
    const kept = await shop.all((client) => client.order.findUnique({ where: { id: 101 } }));
    expect(kept).toMatchObject({ deletedAt: expect.any(Date) });
    expect(await shop.all((client) => client.order.count({ where: { number: 'x' } }))).toBe(0);
  });

  it('gives new rows what it fixes and who wrote them, and refuses a body that names another', async () => {
    const data = { number: 'new', customerId: 101, createdBy: 'somebody' };
    const { id } = (await runAs(user, () => shop.orders.create(data as never, { id: true }))) as unknown as {
      id: number;
    };
    const find = () => shop.all((client) => client.order.findUnique({ where: { id } }));
    expect(await find()).toMatchObject({ tenantId: 'a', ownerId: 'a-user', createdBy: 'a-user', updatedBy: 'a-user' });
    await runAs(a, () => shop.orders.update(id as never, { number: 'changed' } as never));
    expect(await find()).toMatchObject({ number: 'changed', createdBy: 'a-user', updatedBy: 'a-admin' });
    for (const foreign of [{ tenantId: 'b' }, { ownerId: 'a-admin' }]) {
      const refused = { statusCode: 403, details: { fields: Object.keys(foreign) } };
      expect(await runAs(user, () => raised(() => shop.orders.create({ ...data, ...foreign } as never)))).toMatchObject(
        refused,
      );
      expect(await runAs(user, () => raised(() => shop.orders.update(id as never, foreign as never)))).toMatchObject(
        refused,
      );
    }
    expect(await runAs(a, () => shop.orders.create({ ...data, ownerId: 'c', tenantId: 'a' } as never))).toMatchObject({
      ownerId: 'c',
    });
  });

  it('refuses to refer to a row of another tenant as to one that does not exist', async () => {
    const refused = (data: object) =>
      runAs(a, () => raised(() => shop.orders.create({ number: 'x', ownerId: 'a', ...data } as never)));
    const [foreign, none] = [await refused({ customerId: 201 }), await refused({ customerId: 999 })];
    expect([foreign.statusCode, foreign.message, foreign.details]).toEqual([
      none.statusCode,
      none.message,
      none.details,
    ]);
    expect(foreign.statusCode).toBe(409);
    const connect = (id: number) => refused({ customerId: 101, tags: { connect: [{ id }] } });
    const [other, missing] = [await connect(201), await connect(999)];
    expect([other.statusCode, other.message, other.details]).toEqual([
      missing.statusCode,
      missing.message,
      missing.details,
    ]);
    expect(other.statusCode).toBe(409);
    expect(await shop.all((client) => client.order.count({ where: { number: 'x' } }))).toBe(0);
  });

  it('holds on the client itself, in a unit of work and in a transaction', async () => {
    const { own } = shop.orders;
    const counts = async () => {
      const { own: client } = shop.orders;
      const include = { _count: { select: { tags: true } }, customer: true };
      // PostgreSQL gives rows in any order, which the update below changes.
      const many = await client.order.findMany({ include, orderBy: { id: 'asc' } });
      const { _count: total } = await client.order.aggregate({ _count: true });
      const groups = await client.order.groupBy({ by: ['tenantId'] });
      const { count } = await client.order.updateMany({ data: { secret: 'seen' } });
      expect(many.map(({ _count }: { _count: object }) => _count)).toEqual(Array(4).fill({ tags: 1 }));
      expect(many[3].customer).toBeNull();
      return [many.length, total, groups, await client.order.findFirst({ where: { id: 201 } }), count];
    };
    const expected = [4, 4, [{ tenantId: 'a' }], null, 4];
    expect(await runAs(a, counts)).toEqual(expected);
    expect(await runAs(a, () => shop.orders.unitOfWork(counts))).toEqual(expected);
    // biome-ignore lint/suspicious/noExplicitAny: a client of other models than the service's
    const inside = (transaction: any) =>
      transaction.order.findMany({ include: { customer: true }, orderBy: { id: 'asc' } });
    const rows = (await runAs(a, () => own.$transaction(inside))) as { customer: object | null }[];
    expect(rows.map(({ customer }) => customer === null)).toEqual([false, false, false, true]);
    const { count } = await runAs(a, () =>
      own.order.deleteMany({ where: { id: { in: [101, 201] } } }).catch(() => ({ count: -1 })),
    );
    expect(count).not.toBe(2);
  });

  it('holds where a call follows a relation', async () => {
    const follow = (id: number) => shop.orders.own.order.findUnique({ where: { id } });
    await runAs(a, async () => {
      expect([await follow(104).customer(), await follow(201).customer()]).toEqual([null, null]);
      expect(await follow(103).customer({ select: { tenantId: true } })).toEqual({ tenantId: 'a' });
      expect(await follow(104).tags({ select: { id: true } })).toEqual([{ id: 101 }]);
      const [through] = await shop.orders.own.tag.findUnique({ where: { id: 101 } }).orders({
        where: { id: 104 },
        include: { customer: true },
      });
      expect(through).toMatchObject({ id: 104, customer: null });
      expect((await raised(async () => await follow(104).customer().orders())).message).toContain('one relation');
    });
  });

  it('holds for a query that runAs or unscoped is given as it is', async () => {
    const query = () => shop.orders.own.order.count();
    expect(await unscoped('a test', () => runAs(a, query))).toBe(4);
    expect(await runAs(a, () => unscoped('a test', query))).toBe(10);
  });

  it('holds for records that runAs or unscoped is given to be gone through, one batch after the other', async () => {
    const all = () => shop.orders.each({ batchSize: 2 });
    const found = async (rows: AsyncIterable<object>) => ids(await Readable.from(rows).toArray());
    expect(await unscoped('a test', () => found(runAs(user, all)))).toEqual([101]);
    expect(await runAs(aCaller('b'), () => found(runAs(user, () => Readable.from(all()))))).toEqual([101]);
    expect(await found(runAs(a, () => unscoped('a test', all)))).toHaveLength(10);
  });

  it('undoes a write whose row would leave a scope that looks through relations', async () => {
    const refused = await runAs(a, () =>
      raised(() => shop.lines.create({ label: 'x', orderId: 201 } as never, { id: true })),
    );
    expect(refused.statusCode).toBe(409);
    await runAs(a, () => shop.lines.create({ label: 'x', orderId: 101 } as never, { id: true }));
    expect(await shop.all((client) => client.line.count({ where: { label: 'x' } }))).toBe(1);
  });

  it('raises where nobody acts, where the caller has no tenant, and for a model that it was forgotten for', async () => {
    const attempts: (() => Promise<unknown>)[] = [
      () => shop.orders.findMany(list(fields)),
      () => shop.orders.count(),
      () => shop.orders.findById(101 as never),
      () => shop.orders.create({ number: 'x', customerId: 101 } as never),
      () => shop.orders.own.order.findMany(),
      () =>
        shop.reviewers.findMany({
          ...(list({ id: true, orders: { select: fields, take: 5 } }) as object),
          model: 'Reviewer',
        } as never),
    ];
    for (const attempt of attempts) {
      expect(await raised(attempt)).toMatchObject({
        statusCode: 500,
        message: expect.stringContaining('No rows of Order'),
      });
      expect(await runAs(aCaller(undefined, 'x'), () => raised(attempt))).toMatchObject({
        message: expect.stringContaining('undefined for tenantId'),
      });
    }
    expect(await runAs(a, () => raised(() => shop.forgotten.count()))).toMatchObject({ statusCode: 500 });
    expect(shop.open.client && (await unscoped('a test', () => shop.forgotten.count()))).toBe(0);
    expect(
      ids(await shop.reviewers.findMany({ ...(list({ id: true }) as object), model: 'Reviewer' } as never)),
    ).toEqual([1]);
  });

  it('shares no read between tenants, however alike they ask at the same time', async () => {
    const ask = (tenant: string) => runAs(aCaller(tenant), async () => ids(await shop.orders.findMany(list(fields))));
    const answers = await Promise.all(['a', 'b', 'a', 'b', 'a'].map(ask));
    expect(answers.map(([first]) => first)).toEqual([101, 201, 101, 201, 101]);
    const all = await unscoped('a test', async () => ids(await shop.orders.findMany(list(fields))));
    expect(all).toHaveLength(10);
  });
});
