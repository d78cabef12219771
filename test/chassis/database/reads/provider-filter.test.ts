import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { toProviderFilter, toProviderSelection } from '../../../../src/chassis/database/reads/provider-filter.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';

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

describe.each(databaseProviders)('text filters on %s', (provider) => {
  let open: OpenOrm;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider);
    await open.client.category.createMany({ data: names.map((name) => ({ name })) });
  });

  afterAll(() => open.close());

  async function found(condition: object): Promise<string[]> {
    const where = toProviderFilter({ name: condition }, provider);
    const records = await open.client.category.findMany({ where, select: { name: true } });
    return records.map(({ name }) => name).sort();
  }

  const expected = (matches: (name: string) => boolean) => names.filter(matches).sort();
  const lower = (text: unknown) => String(text).toLowerCase();

  it.each(names.concat('lain', 'LAIN', 'B', '%b', '"', "'"))('takes %j literally in every operator', async (value) => {
    const mode = 'insensitive';
    expect(await found({ contains: value })).toEqual(expected((name) => name.includes(value)));
    expect(await found({ startsWith: value })).toEqual(expected((name) => name.startsWith(value)));
    expect(await found({ endsWith: value })).toEqual(expected((name) => name.endsWith(value)));
    expect(await found({ equals: value })).toEqual(expected((name) => name === value));
    expect(await found({ in: [value, 'b'] })).toEqual(expected((name) => name === value || name === 'b'));
    expect(await found({ contains: value, mode })).toEqual(expected((name) => lower(name).includes(lower(value))));
    expect(await found({ startsWith: value, mode })).toEqual(expected((name) => lower(name).startsWith(lower(value))));
    expect(await found({ endsWith: value, mode })).toEqual(expected((name) => lower(name).endsWith(lower(value))));
    expect(await found({ equals: value, mode })).toEqual(expected((name) => lower(name) === lower(value)));
    expect(await found({ not: value, mode })).toEqual(expected((name) => lower(name) !== lower(value)));
    expect(await found({ not: { contains: value }, mode })).toEqual(
      expected((name) => !lower(name).includes(lower(value))),
    );
    expect(await found({ not: { contains: value } })).toEqual(expected((name) => !name.includes(value)));
  });

  it('compares lists without case in insensitive mode', async () => {
    const mode = 'insensitive';
    const list = ['plain', '50%', 'A_B'];
    const listed = (name: string) => list.some((item) => lower(item) === lower(name));
    expect(await found({ in: list, mode })).toEqual(expected(listed));
    expect(await found({ notIn: list, mode })).toEqual(expected((name) => !listed(name)));
    expect(await found({ in: [], mode })).toEqual([]);
    expect(await found({ notIn: [], mode })).toEqual(expected(() => true));
  });

  it('keeps several conditions of one field and of its neighbours together', async () => {
    const filter = {
      OR: [
        { name: { contains: 'A', endsWith: 'n', mode: 'insensitive' } },
        { name: { in: ['%'], mode: 'insensitive' } },
      ],
      NOT: { name: { equals: 'PLAIN' } },
      AND: [{ name: { not: 'x', mode: 'insensitive' } }],
    };
    const where = toProviderFilter(filter, provider);
    const records = await open.client.category.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } });
    expect(records.map(({ name }) => name)).toEqual(['%', 'plain']);
  });

  it('applies to the filters of relations and of included relations', async () => {
    const { id } = await open.client.category.findUniqueOrThrow({ where: { name: '50%' } });
    const data = ['1%', '12'].map((sku) => ({ sku, name: sku, description: '', price: 1, categoryId: id }));
    await open.client.product.createMany({ data });
    const where = toProviderFilter({ category: { name: { contains: '0%' } }, sku: { contains: '%' } }, provider);
    expect(await open.client.product.count({ where })).toBe(1);
    const some = toProviderFilter({ products: { some: { sku: { startsWith: '1%', mode: 'insensitive' } } } }, provider);
    expect(await open.client.category.count({ where: some })).toBe(1);
    const select = toProviderSelection(
      { products: { where: { sku: { contains: '%' } }, select: { sku: true } } },
      provider,
    );
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

  it('refuses a text with a NUL character, which neither database can hold', () => {
    expect(() => toProviderFilter({ name: { contains: 'a\0b' } }, provider)).toThrow('Invalid request data');
  });
});

describe('toProviderFilter', () => {
  it('leaves the filter it was given as it is', () => {
    const filter = {
      name: { contains: 'a%', mode: 'insensitive' },
      AND: [{ name: { in: ['x'], mode: 'insensitive' } }],
    };
    const before = structuredClone(filter);
    toProviderFilter(filter, 'sqlite');
    toProviderFilter(filter, 'postgresql');
    expect(filter).toEqual(before);
  });

  it('passes filters without text untouched', () => {
    const filter = {
      price: { gte: 1 },
      createdAt: { lte: new Date(0) },
      categoryId: null,
      category: { is: { name: 'x' } },
    };
    expect(toProviderFilter(filter, 'sqlite')).toEqual(filter);
    expect(toProviderFilter(filter, 'postgresql')).toEqual(filter);
  });
});
