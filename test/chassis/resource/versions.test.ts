import express from 'express';
import request, { type Response } from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setPrincipal } from '../../../src/chassis/context/request-context.ts';
import { runAs } from '../../../src/chassis/context/run-as.ts';
import type { BaseException } from '../../../src/chassis/errors/exceptions.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { createCursorCodec } from '../../../src/chassis/query/paging/cursor.ts';
import { listPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import { ResourceController } from '../../../src/chassis/resource/resource-controller.ts';
import { resourceRouter } from '../../../src/chassis/resource/resource-router.ts';
import { ResourceService } from '../../../src/chassis/resource/resource-service.ts';
import { databaseProviders } from '../../support/empty-database.ts';
import { raised } from '../../support/raised.ts';
import { orderList } from '../../support/tenant-lists.ts';
import { aCaller, emptyShop, fillShop, type TenantShop, tenantModels } from '../../support/tenant-shop.ts';

const models = await tenantModels();
afterAll(models.remove);
const a = aCaller('a');
const number = (text: string) => ({ number: text }) as never;

describe.each(databaseProviders)('versions of records on %s', (provider) => {
  let shop: TenantShop;
  beforeAll(async () => {
    shop = await models.open(provider);
  });
  afterAll(() => shop.close());
  beforeEach(async () => {
    await emptyShop(shop);
    await fillShop(shop);
  });

  type Headers = Record<string, string>;
  const as =
    (method: 'get' | 'put' | 'patch' | 'delete' | 'post') =>
    (path: string, headers: Headers = {}, body?: object) =>
      request(shop.app)
        [method](path)
        .set({ 'x-caller': 'a a-admin admin', ...headers })
        .send(body) as unknown as Promise<Response>;
  const [get, put, patch, remove, post] = (['get', 'put', 'patch', 'delete', 'post'] as const).map(as) as ReturnType<
    typeof as
  >[];
  const stored = (id: number) => shop.all((client) => client.order.findUnique({ where: { id } }));

  it('are the ETag of a record, which is not sent again to who has it', async () => {
    const { headers, body } = await get!('/orders/101');
    expect(headers.etag).toBe('"1"');
    expect(body.data).toMatchObject({ id: 101, version: 1 });
    for (const tags of ['"1"', 'W/"1"', '"7", "1"', '*']) {
      const again = await get!('/orders/101', { 'if-none-match': tags });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', '"1"']);
    }
    expect((await get!('/orders/101', { 'if-none-match': '"2"' })).status).toBe(200);
    const whole = await get!(`/orders/101?include=${encodeURIComponent('{"customer":true}')}`, {
      'if-none-match': '"1"',
    });
    expect([whole.status, whole.headers.etag]).toEqual([200, undefined]);
  });

  it('are sent again where a copy may be of a caller who sees other fields', async () => {
    const { record } = orderList;
    const forRoles = listPolicy('Order', { record, only: { reviewerId: 'auditor' } } as never);
    class Controller extends ResourceController {
      readonly schemas = { record, list: forRoles };
    }
    const service = new ResourceService({ repository: shop.orders });
    const cursors = createCursorCodec('a secret of the tests that is long enough');
    const app = express().use(requestPipeline(), (asked, _answer, next) => {
      setPrincipal(aCaller('a', 'a-admin', 'admin', String(asked.headers['x-role'])));
      next();
    });
    app.use(
      resourceRouter('/orders', new Controller({ service, cursors }), { read: (_asked, _answer, next) => next() }),
    );
    const whole = await request(app).get('/orders/101').set('x-role', 'auditor');
    expect([whole.headers['etag'], whole.body.data]).toEqual(['"1"', expect.objectContaining({ reviewerId: 2 })]);
    const { status, body } = await request(app).get('/orders/101').set({ 'x-role': 'clerk', 'if-none-match': '"1"' });
    expect([status, body.data.id, body.data]).toEqual([200, 101, expect.not.objectContaining({ reviewerId: 2 })]);
  });

  it.each(['put', 'patch'] as const)('are checked where If-Match of %s names them, and count up', async (method) => {
    const change = method === 'put' ? put! : patch!;
    const first = await change('/orders/101', { 'if-match': '"1"' }, { number: 'changed' });
    expect([first.status, first.headers.etag, first.body.data.version]).toEqual([200, '"2"', 2]);
    const late = await change('/orders/101', { 'if-match': '"1"' }, { number: 'lost' });
    expect([late.status, late.body.message]).toEqual([
      412,
      'Somebody has changed this order meanwhile; get it again and repeat the change',
    ]);
    for (const tags of ['W/"2"', '"x"', '"99999999999999999999"', '2']) {
      expect((await change('/orders/101', { 'if-match': tags }, { number: 'lost' })).status).toBe(412);
    }
    expect(await stored(101)).toMatchObject({ number: 'changed', version: 2 });
    expect((await change('/orders/101', {}, { number: 'any' })).headers.etag).toBe('"3"');
    expect((await change('/orders/101', { 'if-match': '*' }, { number: 'any' })).headers.etag).toBe('"4"');
    expect((await change('/orders/101', { 'if-match': '"1", "4"' }, { number: 'any' })).headers.etag).toBe('"5"');
    for (const id of [105, 201, 999])
      expect((await change(`/orders/${id}`, { 'if-match': '"1"' }, { number: 'x' })).status).toBe(404);
  });

  it('are a hundred at most in If-Match, each of which the database is asked for', async () => {
    const tags = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`).join();
    expect((await put!('/orders/101', { 'if-match': tags(101) }, { number: 'changed' })).body).toMatchObject({
      statusCode: 400,
      message: 'Expected at most 100 entity tags in If-Match, found 101',
    });
    expect((await put!('/orders/101', { 'if-match': tags(100) }, { number: 'changed' })).status).toBe(200);
  });

  it('are not there where a repository declares none, so a change with If-Match is refused', async () => {
    const late = await put!('/customers/101', { 'if-match': '"1"' }, { name: 'lost' });
    expect([late.status, late.body.message]).toEqual([412, expect.stringContaining('have no versions')]);
    expect((await put!('/customers/101', { 'if-match': '*' }, { name: 'any' })).status).toBe(200);
  });

  it('keep a record from being deleted by who has not seen it as it is', async () => {
    await put!('/orders/101', {}, { number: 'changed' });
    expect((await remove!('/orders/101', { 'if-match': '"1"' })).status).toBe(412);
    expect(await stored(101)).toMatchObject({ deletedAt: null });
    expect((await remove!('/orders/101', { 'if-match': '"2"' })).status).toBe(204);
    expect(await stored(101)).toMatchObject({ deletedAt: expect.any(Date) });
    const { headers } = await get!('/tags/101');
    expect((await remove!('/tags/101', { 'if-match': '"1"' })).status).toBe(412);
    expect((await remove!('/tags/101', { 'if-match': headers.etag as string })).status).toBe(204);
  });

  it('let one of fifty writers through who have all seen the same', async () => {
    const writers = Array.from({ length: 50 }, (_, index) =>
      put!('/orders/101', { 'if-match': '"1"' }, { number: `by ${index}` }),
    );
    const answers = await Promise.all(writers);
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(49);
    expect(await stored(101)).toMatchObject({ number: winner?.body.data.number, version: 2 });
  });

  it('may be the moment of the last change, which always gets later', async () => {
    const { headers } = await get!('/tags/101');
    const first = await put!('/tags/101', { 'if-match': headers.etag as string }, { name: 'one' });
    expect([first.status, first.body.data]).toEqual([200, { id: 101, name: 'one' }]);
    expect(first.headers.etag).not.toBe(headers.etag);
    expect((await put!('/tags/101', { 'if-match': headers.etag as string }, { name: 'two' })).status).toBe(412);
    expect((await put!('/tags/101', { 'if-match': first.headers.etag as string }, { name: 'two' })).status).toBe(200);
  });

  it('are demanded where the routes say so', async () => {
    expect((await put!('/strict/orders/101', {}, { number: 'x' })).status).toBe(428);
    expect((await remove!('/strict/orders/101')).status).toBe(428);
    expect((await put!('/strict/orders/101', { 'if-match': '"1"' }, { number: 'x' })).status).toBe(200);
  });

  it('are not for a client to choose', async () => {
    const { status, body, headers } = await post!('/orders', {}, { number: 'new', ownerId: 'a', customerId: 101 });
    expect([status, body.data?.version, headers.etag], JSON.stringify(body)).toEqual([201, 1, '"1"']);
    await runAs(a, () => shop.orders.update(body.data.id, { number: 'x', version: 40 } as never));
    expect(await stored(body.data.id)).toMatchObject({ version: 2 });
  });

  it('are checked by a repository, also in a unit of work that is then undone', async () => {
    await runAs(a, async () => {
      const id = 101 as never;
      expect(await shop.orders.update(id, number('one'), { number: true } as never, { version: 1 })).toEqual({
        number: 'one',
      });
      const late = () =>
        shop.orders.unitOfWork(async () => {
          await shop.customers.update(101 as never, { name: 'undone' } as never);
          await shop.orders.update(id, number('two'), undefined, { version: 1 });
        });
      expect((await raised(late)).statusCode).toBe(412);
      const unchanged = () => shop.orders.ifVersion(id, ['"2"'], async () => undefined);
      expect((await raised(unchanged)).message).toContain('found none that did');
      const unversioned = () => shop.customers.update(101 as never, { name: 'x' } as never, undefined, { version: 1 });
      await expect(async () => unversioned()).rejects.toThrow('Expected a version column of Customer');
    });
    expect(await shop.all((client) => client.customer.count({ where: { name: 'undone' } }))).toBe(0);
  });

  describe('that a change was asked for', () => {
    const id = 101 as never;
    const ifFirst = <T>(work: () => Promise<T>) => runAs(a, () => shop.orders.ifVersion(id, ['"1"'], work));
    const statuses = (results: PromiseSettledResult<unknown>[]) =>
      results.map((result) => (result.status === 'fulfilled' ? 200 : (result.reason as BaseException).statusCode));

    it('are checked again when its unit of work is tried again', async () => {
      let inside = 0;
      const all = Promise.withResolvers<void>();
      const writer = (name: string) =>
        ifFirst(() =>
          shop.orders.unitOfWork(
            async () => {
              await shop.orders.getById(id);
              inside += 1;
              if (inside === 3 || provider === 'sqlite') all.resolve();
              await all.promise;
              return shop.orders.update(id, number(name));
            },
            { retries: 10 },
          ),
        );
      const results = await Promise.allSettled(['x', 'y', 'z'].map(writer));
      expect(statuses(results).sort()).toEqual([200, 412, 412]);
      expect(await stored(101)).toMatchObject({ version: 2 });
    });

    it.each([
      ['undone', (change: () => Promise<unknown>) => shop.orders.unitOfWork(() => raiseAfter(change))],
      ['refused', (change: () => Promise<unknown>) => change()],
    ])('are checked again when it was %s and is tried by hand', async (how, within) => {
      if (how === 'refused') await runAs(a, () => shop.orders.update(id, number('newer')));
      const before = await stored(101);
      const repeated = () =>
        ifFirst(async () => {
          await raised(() => within(() => shop.orders.update(id, number('first try'))));
          if (how === 'undone')
            await shop.all((client) => client.order.update({ where: { id }, data: { version: 7 } }));
          return shop.orders.update(id, number('second try'));
        });
      expect((await raised(repeated)).statusCode).toBe(412);
      expect(await stored(101)).toMatchObject({ number: (before as { number: string }).number });
    });

    it('are checked again after a change whose condition did not hold', async () => {
      const repeated = () =>
        ifFirst(async () => {
          const unfit = { status: 'placed' } as never;
          expect(await shop.orders.updateIf(id, unfit, number('unfit'))).toBeNull();
          await shop.all((client) => client.order.update({ where: { id }, data: { version: 7 } }));
          return shop.orders.delete(id);
        });
      expect((await raised(repeated)).statusCode).toBe(412);
      expect(await stored(101)).toMatchObject({ deletedAt: null });
    });
  });
});

async function raiseAfter(change: () => Promise<unknown>): Promise<never> {
  await change();
  throw new RangeError('undone');
}
