import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { toProviderFilter } from '../../../../src/chassis/database/reads/provider-filter.ts';
import { type FilterOperator, type Operator, operators } from '../../../../src/chassis/query/operators.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';

const names = [
  'plain',
  'PLAIN',
  '50%',
  '50x',
  'a_b',
  'aXb',
  'back\\slash',
  "it's",
  'say "hi"',
  'star*',
  'what?',
  '[box]',
  'b',
  '%',
  '_',
  '\\',
  '',
  '*',
  '\\%',
  'A%b_C\\d',
  '\uF8A0x',
];

const values = names.concat('lain', 'LAIN', 'B', '%b', '"', "'");

type Order = 'lt' | 'lte' | 'gt' | 'gte';
const orders: Record<Order, (left: number, right: number) => boolean> = {
  lt: (left, right) => left < right,
  lte: (left, right) => left <= right,
  gt: (left, right) => left > right,
  gte: (left, right) => left >= right,
};

/** What each operator means, of a name and its operands. */
const meanings: Record<Exclude<FilterOperator, Order>, Meaning> = {
  equals: (name, [value]) => name === value,
  not: (name, [value]) => name !== value,
  in: (name, list) => list.includes(name),
  notIn: (name, list) => !list.includes(name),
  startsWith: (name, [value = '']) => name.startsWith(value),
  endsWith: (name, [value = '']) => name.endsWith(value),
  contains: (name, [value = '']) => name.includes(value),
};
type Meaning = (name: string, operands: string[]) => boolean;

describe.each(databaseProviders)('filters of the ORM client on %s', (provider) => {
  let open: OpenOrm;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider);
    await open.client.category.createMany({ data: names.map((name) => ({ name })) });
  });

  afterAll(() => open.close());

  async function found(condition: object): Promise<string[]> {
    const records = await open.client.category.findMany({ where: { name: condition }, select: { name: true } });
    return records.map(({ name }) => name).sort();
  }

  const expected = (matches: (name: string) => boolean) => names.filter(matches).sort();
  const lower = (text: unknown) => String(text).toLowerCase();

  describe.each(Object.keys(meanings) as Exclude<FilterOperator, Order>[])('%s', (operator) => {
    const means = meanings[operator];
    const { operand, cost } = operators[operator] as Operator;
    const given = (value: string) => (operand === 'list' ? [value, 'b'] : value);

    it.each(values)('means the same as in JavaScript for %j, literally', async (value) => {
      expect(await found({ [operator]: given(value) })).toEqual(expected((name) => means(name, [given(value)].flat())));
      if (!cost.insensitive) return;
      const folded = [given(value)].flat().map(lower);
      const matches = (name: string) => means(lower(name), folded);
      expect(await found({ [operator]: given(value), mode: 'insensitive' })).toEqual(expected(matches));
      expect(await found({ [operator]: given(value), mode: 'default' })).toEqual(
        expected((name) => means(name, [given(value)].flat())),
      );
      const negated = { not: { [operator]: given(value) }, mode: 'insensitive' };
      expect(await found(negated)).toEqual(expected((name) => !matches(name)));
    });
  });

  it.each(Object.entries(orders))('%s means the same as in JavaScript for a number', async (operator, means) => {
    const { id } = await open.client.category.findUniqueOrThrow({ where: { name: 'plain' } });
    const prices = [1, 2, 3];
    const data = prices.map((price) => ({ sku: `${price}`, name: '', description: '', price, categoryId: id }));
    await open.client.product.createMany({ data });
    const where = { price: { [operator]: 2 } };
    const records = await open.client.product.findMany({ where, orderBy: { price: 'asc' } });
    expect(records.map(({ price }) => price)).toEqual(prices.filter((price) => means(price, 2)));
    await open.client.product.deleteMany();
  });

  it('takes an empty list for one that nothing is in', async () => {
    for (const mode of ['default', 'insensitive']) {
      expect(await found({ in: [], mode })).toEqual([]);
      expect(await found({ notIn: [], mode })).toEqual(expected(() => true));
    }
  });

  it('keeps several conditions of one field and of its neighbours together', async () => {
    const where: object = {
      OR: [
        { name: { contains: 'A', endsWith: 'n', mode: 'insensitive' } },
        { name: { in: ['%'], mode: 'insensitive' } },
      ],
      NOT: { name: { equals: 'PLAIN' } },
      AND: [{ name: { not: 'x', mode: 'insensitive' } }],
    };
    const records = await open.client.category.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } });
    expect(records.map(({ name }) => name)).toEqual(['%', 'plain']);
  });

  it('applies to the filters of relations and of included relations', async () => {
    const { id } = await open.client.category.findUniqueOrThrow({ where: { name: '50%' } });
    const data = ['1%', '12'].map((sku) => ({ sku, name: sku, description: '', price: 1, categoryId: id }));
    await open.client.product.createMany({ data });
    const where = { category: { name: { contains: '0%' } }, sku: { contains: '%' } };
    expect(await open.client.product.count({ where })).toBe(1);
    const some: object = { products: { some: { sku: { startsWith: '1%', mode: 'insensitive' } } } };
    expect(await open.client.category.count({ where: some })).toBe(1);
    const select = { products: { where: { sku: { contains: '%' } }, select: { sku: true } } };
    expect(await open.client.category.findUnique({ where: { id }, select })).toEqual({ products: [{ sku: '1%' }] });
    await open.client.product.deleteMany();
  });

  it('agrees with includes() of JavaScript on every ASCII text', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'abAB%_\\\'"*?[]^- .'), maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(text, { minLength: 1, maxLength: 12 }), text, async (stored, value) => {
        await open.client.category.deleteMany();
        await open.client.category.createMany({ data: stored.map((name) => ({ name })) });
        expect(await found({ contains: value })).toEqual(stored.filter((name) => name.includes(value)).sort());
        const folded = stored.filter((name) => lower(name).includes(lower(value))).sort();
        expect(await found({ contains: value, mode: 'insensitive' })).toEqual(folded);
      }),
      { numRuns: 60 },
    );
  });

  it('finds the records that a change is made to', async () => {
    await open.client.category.deleteMany();
    await open.client.category.createMany({ data: ['a', 'A', '%', 'x%'].map((name) => ({ name })) });
    expect(await open.client.category.updateMany({ where: { name: { contains: 'A' } }, data: { name: 'B' } })).toEqual({
      count: 1,
    });
    expect(await open.client.category.deleteMany({ where: { name: { startsWith: '%' } } })).toEqual({ count: 1 });
    expect(await open.client.category.aggregate({ _count: true, where: { name: { endsWith: 'a' } } })).toEqual({
      _count: 1,
    });
  });

  it('refuses a text with a NUL character, which neither database can hold', async () => {
    const asked = () => open.client.category.findMany({ where: { name: { contains: 'a\0b' } } });
    expect(await raised(async () => await asked())).toMatchObject({ statusCode: 400, message: 'Invalid request data' });
  });

  it('takes what is no filter for a mistake, and not for all records', async () => {
    const asked = () => open.client.category.deleteMany({ where: null as unknown as object });
    expect((await raised(async () => await asked())).statusCode).toBe(500);
    expect(await open.client.category.count()).toBeGreaterThan(0);
  });
});

describe('toProviderFilter', () => {
  it('leaves the filter it was given as it is', () => {
    const filter = {
      name: { contains: 'a%', mode: 'insensitive' },
      AND: [{ name: { in: ['x'], mode: 'insensitive' } }],
    };
    const before = structuredClone(filter);
    toProviderFilter(filter, { provider: 'sqlite' });
    toProviderFilter(filter, { provider: 'postgresql' });
    expect(filter).toEqual(before);
  });

  it('passes filters without text untouched', () => {
    const filter = {
      price: { gte: 1 },
      createdAt: { lte: new Date(0) },
      categoryId: null,
      category: { is: { name: 'x' } },
    };
    expect(toProviderFilter(filter, { provider: 'sqlite' })).toEqual(filter);
    expect(toProviderFilter(filter, { provider: 'postgresql' })).toEqual(filter);
  });
});
