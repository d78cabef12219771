import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import type { Filter } from '../../../../src/chassis/query/query-types.ts';
import { databaseProviders } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';
import { aGadget } from '../../resource/a-gadget.ts';
import { type EveryTypeApp, everyTypeModels } from '../../resource/every-type.ts';

class Gadgets extends Repository<'product'> {
  protected readonly model = 'gadget' as 'product';
}
const gadgetsOf = (orm: unknown) => new Gadgets({ orm: orm as never });

const models = await everyTypeModels();
afterAll(models.remove);

describe.each(databaseProviders)('values at the edge of their columns on %s', (provider) => {
  let open: EveryTypeApp & { close(): Promise<void> };
  let plain: EveryTypeApp & { close(): Promise<void> };
  const get = (path: string, { where }: { where: unknown }) =>
    request(open.app)
      .get(path)
      .query({ where: JSON.stringify(where) });
  const numbers = async (where: unknown) => {
    const { body, status } = await get('/gadgets', { where });
    expect(status).toBe(200);
    return body.data.map(({ number }: { number: number }) => number).sort();
  };

  beforeAll(async () => {
    open = await models.open(provider);
    plain = await models.open(provider, 'orm');
    const { status } = await request(open.app)
      .post('/gadgets')
      .send({ ...aGadget(1), makerId: null });
    expect(status).toBe(201);
  });
  afterAll(async () => {
    await open.close();
    await plain.close();
  });

  it.each([
    ['NUL in Json', { data: { a: ['x\u0000y'] } }],
    ['NUL in a key of Json', { data: { 'x\u0000y': 1 } }],
    ['half a surrogate pair in Json', { data: { a: '\ud800' } }],
    ['NUL in a text', { name: 'x\u0000y' }],
  ])('answer 400 to what its column cannot hold, in the same words on both databases: %s', async (_what, more) => {
    const sent = { ...aGadget(300), makerId: null, ...more };
    const created = await request(open.app).post('/gadgets').send(sent);
    const [gadget] = (await get('/gadgets', { where: { number: 1 } })).body.data;
    const updated = await request(open.app).put(`/gadgets/${gadget.id}`).send(more);
    for (const { status, body } of [created, updated]) {
      expect([status, body.message, body.details]).toEqual([400, 'Invalid request data', undefined]);
    }
    expect(await open.client.gadget.count({ where: { number: 300 } })).toBe(0);
  });

  const decimals = 'Expected a decimal with at most 10 digits before the point and 4 behind it';
  const smalls = 'Expected an integer from -32768 to 32767';
  it.each([
    ['number beyond SmallInt', { number: 40_000 }, { number: [smalls] }],
    ['number below SmallInt', { number: -32_769 }, { number: [smalls] }],
    ['decimal with more digits before the point than its column', { price: '12345678901.5' }, { price: [decimals] }],
    ['decimal with more digits behind the point than its column', { price: '1.99999' }, { price: [decimals] }],
  ])('answer 400 that names the field of a number that its column cannot hold: %s', async (_what, more, errors) => {
    const sent = { ...aGadget(300), makerId: null, ...more };
    const created = await request(open.app).post('/gadgets').send(sent);
    const [gadget] = (await get('/gadgets', { where: { number: 1 } })).body.data;
    const updated = await request(open.app).put(`/gadgets/${gadget.id}`).send(more);
    for (const { status, body } of [created, updated]) expect([status, body.details]).toEqual([400, { errors }]);
    expect(await open.client.gadget.count({ where: { number: 300 } })).toBe(0);
  });

  const ofInt = 'an integer from -2147483648 to 2147483647';
  const ofBigInt = 'an integer from -9223372036854775808 to 9223372036854775807';
  const ofPrice = 'a decimal with at most 10 digits before the point and 4 behind it';
  const noPrices = ['1e21', '1E+21', '1e-7', '1e999999999', '1e-999999999', 'NaN', 'Infinity', '0x1f', ' 1', '', '.'];
  it.each([
    ['tenant', ofInt, [2 ** 31, 1e21, 1.5, Number.NaN, Number.POSITIVE_INFINITY]],
    ['number', 'an integer from -32768 to 32767', [1e21, 0.5]],
    ['stock', ofBigInt, [2n ** 63n, -(2n ** 63n) - 1n, 2 ** 63, 1e21, 1.5, '9223372036854775808', '1e21', '']],
    ['price', ofPrice, [1e21, 1e-7, Number.NaN, ...noPrices]],
    [
      'weight',
      'a decimal with at most 35 digits before the point and 30 behind it',
      [1e35, '1e-31', '1e400', Number.NaN],
    ],
    ['rating', 'a finite number', [Number.NaN, Number.NEGATIVE_INFINITY]],
  ])(
    'answer 400 that names %s, in whichever form no schema refused what is not %s',
    async (field, expected, values) => {
      const details = { errors: { [field]: [`Expected ${expected}`] } };
      for (const value of values) {
        const data = { ...aGadget(300), [field]: value };
        expect(await raised(() => open.client.gadget.create({ data }))).toMatchObject({ statusCode: 400, details });
      }
    },
  );

  it('take a number in every form that its column holds', async () => {
    const [gadget] = (await get('/gadgets', { where: { number: 1 } })).body.data;
    const store = async (price: unknown) =>
      (await open.client.gadget.update({ where: { id: gadget.id }, data: { price } as object })) as { price: unknown };
    for (const [form, stored] of Object.entries({
      '1e9': 1e9,
      '15e-1': 1.5,
      '+1': 1,
      '-0': 0,
      '0e999': 0,
      '.5': 0.5,
    })) {
      expect(Number((await store(form)).price)).toBe(stored);
    }
    expect(Number((await store('1.5')).price)).toBe(1.5);
  });

  it('take zeros at the end of a decimal for no digits too many', async () => {
    const [gadget] = (await get('/gadgets', { where: { number: 1 } })).body.data;
    const { status, body } = await request(open.app).put(`/gadgets/${gadget.id}`).send({ price: '1.500000' });
    expect([status, body.data.price]).toEqual([200, '1.5']);
  });

  it('answer 400 to a comparison with what a SmallInt cannot be', async () => {
    for (const number of [40_000, { gt: 40_000 }, { in: [1, -40_000] }]) {
      const { status, body } = await get('/gadgets', { where: { AND: [{ number }] } });
      expect([status, body.message]).toEqual([400, 'Invalid request data']);
    }
  });

  it.each<[string, object]>([
    ['an Int beyond its range', { tenant: 2 ** 31 }],
    ['an Int with a fraction', { tenant: { in: [0, 1.5] } }],
    ['a SmallInt beyond its range', { number: { not: 40_000 } }],
    ['a BigInt beyond its range', { stock: { lt: 2n ** 63n } }],
    ['a Decimal that is none', { price: 'NaN' }],
    ['a Decimal beyond all', { weight: { gt: '1e400' } }],
    ['a Float that is none', { rating: { lt: Number.NaN } }],
    ['a UUID that is none', { id: { not: 'nope' } }],
    ['a moment after the year 9999', { madeAt: { lt: new Date('+020000-01-01T00:00:00Z') } }],
    ['a moment before the year 1', { madeAt: { gt: new Date('-005000-01-01T00:00:00Z') } }],
    ['no moment at all', { madeAt: new Date(Number.NaN) }],
    ['NUL in a key of Json', { data: { equals: { 'a\u0000': 1 } } }],
    ['half a surrogate pair in Json', { data: { equals: '\ud800' } }],
    ['half a surrogate pair in a path of Json', { data: { path: ['\ud800'], equals: 1 } }],
    ['one in a related record', { parts: { some: { number: 40_000 } } }],
  ])('answer 400 to a comparison with %s, whoever reads', async (_what, where) => {
    for (const gadgets of [gadgetsOf(open.client), gadgetsOf(plain.client)]) {
      const find = { model: 'Gadget', where: where as Filter, select: { id: true }, orderBy: [], take: 10 };
      for (const read of [() => gadgets.findMany(find), () => gadgets.count(where as Filter)]) {
        expect(await raised(read)).toMatchObject({ statusCode: 400, message: 'Invalid request data' });
      }
    }
  });

  it('answer 409 to a reference to no record, and name its field', async () => {
    const { status, body } = await request(open.app)
      .post('/gadgets')
      .send({ ...aGadget(300), makerId: 999 });
    expect([status, body.details]).toEqual([409, { fields: ['makerId'] }]);
  });

  it('answer 409 to a list of related records that lacks one, and 404 only where the written record is missing', async () => {
    const [{ id }] = (await get('/gadgets', { where: { number: 1 } })).body.data;
    const data = { ...aGadget(300), makerId: null };
    const { gadget } = open.client;
    for (const tags of [{ connect: [{ id: 77n }] }, { set: [{ id: 77n }] }]) {
      const changed = await raised(() => gadget.update({ where: { id }, data: { tags } }));
      expect(changed).toMatchObject({ statusCode: 409, details: { fields: ['tags'] } });
    }
    const made = await raised(() => gadget.create({ data: { ...data, tags: { connect: [{ id: 77n }] } } }));
    expect(made).toMatchObject({ statusCode: 409, details: { fields: ['tags'] } });
    const nobody = { id: '00000000-0000-4000-8000-000000000000' };
    const lost = await raised(() => gadget.update({ where: nobody, data: { tags: { connect: [{ id: 77n }] } } }));
    expect(lost).toMatchObject({ statusCode: 404, message: 'Gadget not found' });
  });

  it.each([
    [[0], 'a', [301, 302]],
    [['0'], 'a', [301, 302]],
    [['-1'], 'b', [301, 302]],
    [[-1], 'b', [301, 302]],
    [['01'], 'b', [301]],
    [[' +1'], 'b', [301]],
    [['2024', 0, 'x'], 1, [303]],
    [['2024', '0', 'x'], 1, [303]],
    [['2024', -1, 'x'], 1, [303]],
    [['x'], 1, []],
  ])('lead by a step that is a whole number into lists and objects: %j', async (path, equals, found) => {
    const stored = [['a', 'b'], { '0': 'a', '-1': 'b' }, { '2024': [{ x: 1 }] }];
    for (const [index, data] of stored.entries()) {
      await request(open.app)
        .post('/gadgets')
        .send({ ...aGadget(301 + index), makerId: null, data });
    }
    expect(await numbers({ data: { path, equals } })).toEqual(found);
    await open.client.gadget.deleteMany({ where: { number: { gt: 300 } } });
  });

  it('refuse a path with more whole numbers than SQLite can be asked for', async () => {
    const { status, body } = await get('/gadgets', { where: { data: { path: [0, 0, 0, 0], equals: 1 } } });
    expect([status, body.details.issues[0].path]).toEqual([400, 'where.data.path']);
  });
});
