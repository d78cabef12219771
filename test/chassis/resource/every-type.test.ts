import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseProviders } from '../../support/empty-database.ts';
import { aGadget, sizes } from './a-gadget.ts';
import { addressedRecords, type EveryTypeApp, everyTypeModels, gadgetSorts } from './every-type.ts';

const models = await everyTypeModels();
afterAll(models.remove);

describe.each(databaseProviders)('models with fields of every type on %s', (provider) => {
  let open: EveryTypeApp & { close(): Promise<void> };
  const get = async (path: string, query: Record<string, unknown> = {}) => {
    const texts = Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    return request(open.app).get(path).query(Object.fromEntries(texts));
  };
  const numbers = async (where: unknown, orderBy: unknown = { number: 'asc' }) => {
    const { body, status } = await get('/gadgets', { where, orderBy });
    expect([status, body.details]).toEqual([200, undefined]);
    return body.data.map(({ number }: { number: number }) => number);
  };

  beforeAll(async () => {
    open = await models.open(provider);
    for (const size of ['large', 'small'])
      await request(open.app)
        .post('/makers')
        .send({ name: `maker of ${size}`, size });
    for (const name of ['red', 'green', 'blue']) await request(open.app).post('/tags').send({ name });
    for (let number = 1; number <= 40; number++) {
      const { status } = await request(open.app)
        .post('/gadgets')
        .send({ ...aGadget(number), makerId: number % 3 === 0 ? null : (number % 2) + 1 });
      expect(status).toBe(201);
    }
  });
  afterAll(() => open.close());

  it('keep what was sent, in the form in which it was sent, and are found by it and changed', async () => {
    const sent = {
      ...aGadget(100),
      ...{ price: '1234567890.1234', weight: '0.00000001', stock: '9223372036854775807', seen: '-9223372036854775808' },
      ...{
        data: { deep: [{ when: 'now' }], n: 1e21 },
        extra: [1, 2],
        madeAt: '2026-02-28T23:59:59.999Z',
        makerId: null,
      },
    };
    const created = await request(open.app).post('/gadgets').send(sent);
    expect(created.status).toBe(201);
    const { id } = created.body.data;
    expect(created.body.data).toEqual({ id, ...sent });
    expect(created.headers.location).toBe(`/gadgets/${id}`);
    expect((await get(`/gadgets/${id.toUpperCase()}`)).body.data).toEqual({ id, ...sent });
    for (const field of [
      'id',
      'price',
      'weight',
      'stock',
      'seen',
      'data',
      'extra',
      'madeAt',
      'mood',
      'size',
    ] as const) {
      const value = field === 'id' ? id : sent[field];
      expect(await numbers({ number: 100, [field]: { equals: value } }), field).toEqual([100]);
    }
    const changes = { price: '0.5', stock: '-1', data: null, soldAt: null, size: 'giant', mood: null, weight: null };
    const updated = await request(open.app).put(`/gadgets/${id}`).send(changes);
    expect(updated.body.data).toEqual({ id, ...sent, ...changes });
    expect((await request(open.app).delete(`/gadgets/${id}`)).status).toBe(204);
  });

  it('find a fraction of many digits that is listed beside a large whole number', async () => {
    const rating = 0.30000000000000004;
    expect(
      (
        await request(open.app)
          .post('/gadgets')
          .send({ ...aGadget(101), makerId: null, rating })
      ).status,
    ).toBe(201);
    expect(await numbers({ rating: { in: [rating, 1e15] }, number: 101 })).toEqual([101]);
    expect(await numbers({ rating: { notIn: [rating, 1e15] }, number: 101 })).toEqual([]);
    expect(
      (
        await request(open.app).delete(
          `/gadgets/${(await get('/gadgets', { where: { number: 101 } })).body.data[0].id}`,
        )
      ).status,
    ).toBe(204);
  });

  it('sort enums in declared order, missing values last in both directions', async () => {
    for (const [direction, order] of [
      ['asc', sizes],
      ['desc', [...sizes].reverse()],
    ] as const) {
      const { body } = await get('/gadgets', { orderBy: { size: direction } });
      const found = body.data.map(({ size }: { size: string }) => order.indexOf(size));
      expect(found).toEqual([...found].sort());
      const moods = (await get('/gadgets', { orderBy: { mood: direction } })).body.data;
      const places = moods.map(({ mood }: { mood: string | null }) => (mood === null ? 9 : order.indexOf(mood)));
      expect(places).toEqual([...places].sort());
      expect(places).toContain(9);
    }
  });

  it.each(['json', 'orm'] as const)(
    'sort records without a related one last in both directions, read by %s',
    async (reads) => {
      const { app, close } = reads === 'json' ? { app: open.app, close: async () => undefined } : await open.byOrm();
      for (const direction of ['asc', 'desc']) {
        for (const key of ['maker.name', 'maker.size']) {
          const query = { orderBy: JSON.stringify({ [key]: direction }), include: '{"maker":true}' };
          const { body } = await request(app).get('/gadgets').query(query);
          const missing = body.data.map(({ maker }: { maker: object | null }) => maker === null);
          expect([key, direction, missing]).toEqual([key, direction, [...missing].sort()]);
          expect(missing).toContain(true);
        }
      }
      await close();
    },
  );

  it.each(
    gadgetSorts.flatMap((key) => [
      [key, 'asc'],
      [key, 'desc'],
    ]),
  )('are paged by cursor in the order of %s %s as in one list', async (key, direction) => {
    const orderBy = { [key]: direction };
    const whole = (await get('/gadgets', { orderBy })).body.data;
    const paged: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await get('/gadgets/paginated', { orderBy, pageSize: 7, cursor });
      expect(body.total).toBe(40);
      paged.push(...body.data);
      cursor = body.nextCursor;
    }
    expect(paged).toEqual(whole);
  });

  it('compare Json by value, whatever the order of keys, and by a path into it', async () => {
    const where = (data: unknown) => numbers({ data, number: { lte: 8 } });
    expect(await where({ equals: { a: [1, { c: 'x', z: 2 }], b: 1 } })).toEqual([1, 8]);
    expect(await where('text')).toEqual([2]);
    expect(await where(123)).toEqual([3]);
    expect(await where(null)).toEqual([5]);
    expect(await where({ not: 123 })).toEqual([1, 2, 4, 5, 6, 7, 8]);
    expect(await where({ path: ['a', 1, 'c'], equals: 'x' })).toEqual([1, 8]);
    expect(await where({ path: ['a', 1], equals: { c: 'x', z: 2 } })).toEqual([1, 8]);
    expect(await where({ path: ['b'], equals: null })).toEqual([7]);
    expect(await where({ path: ['b'], not: 2 })).toEqual([1, 7, 8]);
    expect(await numbers({ extra: null, number: { lte: 4 } })).toEqual([2, 4]);
    expect(await numbers({ extra: { not: null }, number: { lte: 4 } })).toEqual([1, 3]);
    const refused = await get('/gadgets', { where: { data: { path: ['a"b'], equals: 1 } } });
    expect(refused.body.details.issues[0].path).toBe('where.data.path');
  });

  it('compare decimals and 64 bit integers by all their digits', async () => {
    expect(await numbers({ stock: '9007199254740993', number: { lte: 9 } })).toEqual([3]);
    expect(await numbers({ stock: { gt: '9007199254740996' }, number: { lte: 9 } })).toEqual([7, 8]);
    expect(await numbers({ weight: { in: ['0.0001', '0.0003'] }, number: { lte: 9 } })).toEqual([1, 3, 7, 9]);
  });

  it('include many-to-many relations and those by composite keys, filtered, ordered and cut', async () => {
    const [gadget] = (await get('/gadgets', { where: { number: 1 } })).body.data;
    await open.client.gadget.update({
      where: { tenant_number: { tenant: gadget.tenant, number: 1 } },
      data: {
        tags: { connect: [{ id: 1n }, { id: 2n }, { id: 3n }] },
        parts: { create: [{ label: 'b' }, { label: 'a' }] },
      },
    });
    const include = {
      tags: { orderBy: { name: 'asc' }, take: 2, where: { name: { contains: 'e' } } },
      parts: { orderBy: { label: 'asc' } },
    };
    const { body } = await get(`/gadgets/${gadget.id}`, { include });
    expect(body.data.tags).toEqual([
      { id: '3', name: 'blue' },
      { id: '2', name: 'green' },
    ]);
    expect(body.data.parts.map(({ label }: { label: string }) => label)).toEqual(['a', 'b']);
    const back = (await get('/tags/2', { include: { gadgets: true } })).body.data;
    expect(back.gadgets.map(({ id }: { id: string }) => id)).toEqual([gadget.id]);
    expect(await numbers({ tags: { some: { id: '2' } } })).toEqual([1]);
    const parts = await get('/parts', {
      orderBy: { 'gadget.size': 'desc', label: 'asc' },
      include: { gadget: { select: { number: true } } },
    });
    expect(parts.body.data.map((part: { gadget: object }) => part.gadget)).toEqual([{ number: 1 }, { number: 1 }]);
  });

  it('answer 409 to a second record with a composite unique key, and name its fields', async () => {
    const { status, body } = await request(open.app)
      .post('/gadgets')
      .send({ ...aGadget(1), makerId: null });
    expect([status, body.details]).toEqual([409, { fields: ['tenant', 'number'] }]);
  });

  it.each(addressedRecords)('take identifiers in the type of the model: GET %s is %i', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.body.message).toMatch(/^(Maker|Tag|Gadget) not found$/);
  });

  it('answer 400 to what no column holds', async () => {
    const values = {
      price: '1e5',
      stock: '9223372036854775808',
      size: 'xxl',
      madeAt: '2026-02-30T00:00:00Z',
      number: 2 ** 31,
    };
    for (const [field, value] of Object.entries(values)) {
      const created = await request(open.app)
        .post('/gadgets')
        .send({ ...aGadget(200), makerId: null, [field]: value });
      expect([field, created.status, Object.keys(created.body.details.errors)]).toEqual([field, 400, [field]]);
      expect((await get('/gadgets', { where: { [field]: value } })).status, field).toBe(400);
    }
  });

  it.runIf(provider === 'sqlite')('refuse a decimal that SQLite would round', async () => {
    const sent = { ...aGadget(201), makerId: null, weight: '0.1234567890123456' };
    const { status } = await request(open.app).post('/gadgets').send(sent);
    expect(status).toBe(400);
    expect(await open.client.gadget.count({ where: { number: 201 } })).toBe(0);
  });
});
