import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { many } from '../../../../src/chassis/query/policy/list-definition.ts';
import { type AnyListPolicy, ListPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { categoryList, productList, userList } from '../policies.ts';
import { reasonOf, refusalOf } from '../refusal-of.ts';

const where = (filter: unknown, policy: AnyListPolicy = productList) =>
  policy.parseFind({ where: JSON.stringify(filter) }).where;
const refused = (filter: unknown, policy: AnyListPolicy = productList) => refusalOf(() => where(filter, policy));
const whyRefused = (filter: unknown, policy: AnyListPolicy = productList) => reasonOf(() => where(filter, policy));

describe('where', () => {
  it('takes declared operators, shorthand, and logic', () => {
    const filter = {
      sku: 'a',
      OR: [{ name: { contains: 'x', mode: 'insensitive' } }, { price: { gte: 1, lte: 2 } }],
      NOT: { sku: { in: ['b'] } },
    };
    expect(where(filter)).toEqual(filter);
    expect(where({ AND: [{}, { sku: 'a' }] })).toEqual({ AND: [{}, { sku: 'a' }] });
  });

  it('reads dates in ISO 8601 as dates', () => {
    const filter = { createdAt: { gte: '2026-01-31', lte: '2026-01-31T10:00:00.5+02:00' } };
    const read = { createdAt: { gte: new Date('2026-01-31T00:00:00Z'), lte: new Date('2026-01-31T08:00:00.500Z') } };
    expect(where(filter)).toEqual(read);
  });

  it.each([
    '',
    'x',
    '2026-02-30',
    '2026-13-01',
    '2026-01-01T10:00',
    '0000-01-01',
    '0001-01-01T00:00:00+10:00',
    '2026-01-01T25:00:00Z',
    5,
    null,
    true,
  ])('refuses %j as a date', (date) => {
    expect(whyRefused({ createdAt: { gte: date } })).toContain('expected a date in ISO 8601');
  });

  it.each([1.5, 2_147_483_648, -2_147_483_649, '1', null, true, [], {}])('refuses %j as an integer', (price) => {
    expect(whyRefused({ price: { gte: price } })).toContain('expected an integer');
  });

  it('takes the whole range of a 32 bit integer', () => {
    const filter = { price: { gte: -2_147_483_648, lte: 2_147_483_647 } };
    expect(where(filter)).toEqual(filter);
  });

  it('reads big integers and decimals from text and from numbers, within what a database holds', () => {
    const policy = new ListPolicy('Account', {
      record: z.object({ big: z.bigint(), exact: z.string().meta({ format: 'decimal' }), rough: z.number() }),
      filter: { big: ['equals'], exact: ['gte'], rough: ['gte'] },
    });
    expect(where({ big: '9223372036854775807', exact: { gte: '0.10' } }, policy)).toEqual({
      big: 2n ** 63n - 1n,
      exact: { gte: '0.10' },
    });
    expect(where({ big: 5, exact: { gte: 1.5 }, rough: { gte: 1.5 } }, policy)).toEqual({
      big: 5n,
      exact: { gte: '1.5' },
      rough: { gte: 1.5 },
    });
    refused({ big: '9223372036854775808' }, policy);
    refused({ big: 1.5 }, policy);
    refused({ exact: { gte: '1e5' } }, policy);
    expect(reasonOf(() => policy.parseFind({ where: '{"rough":{"gte":1e999}}' }))).toContain('finite');
  });

  it('takes null only for fields that can be null, and only to be equal or not', () => {
    expect(where({ avatarUrl: null }, userList)).toEqual({ avatarUrl: null });
    expect(where({ avatarUrl: { not: null } }, userList)).toEqual({ avatarUrl: { not: null } });
    refused({ sku: null });
    refused({ sku: { in: [null] } });
  });

  it('takes only declared values of a closed set', () => {
    expect(where({ role: 'admin' }, userList)).toEqual({ role: 'admin' });
    expect(whyRefused({ role: 'root' }, userList)).toContain('expected one of "user", "admin", got "root"');
  });

  it('filters through relations in each of their forms', () => {
    for (const filter of [
      { category: { name: 'x' } },
      { category: { is: { name: 'x' } } },
      { category: { isNot: { name: 'x' } } },
    ]) {
      expect(where(filter)).toEqual(filter);
    }
    const some = { products: { some: { price: { gte: 1 } }, none: { sku: 'x' }, every: {} } };
    expect(where(some, categoryList)).toEqual(some);
    refused({ products: { sku: 'x' } }, categoryList);
    refused({ products: [] }, categoryList);
    refused({ category: null });
  });

  it('bounds how many relations a path passes through', () => {
    const three = { profile: { user: { profile: { location: 'x' } } } };
    expect(where(three, userList)).toEqual(three);
    const four = { profile: { user: { profile: { user: {} } } } };
    expect(whyRefused(four, userList)).toContain('at most 3 relations in a row');
  });

  it('bounds what costs the database most', () => {
    const some = { products: { some: {} } };
    expect(whyRefused({ category: some })).toContain('a relation to many cannot be asked about below');
    expect(whyRefused({ OR: [some, some, some, some] }, categoryList)).toContain('at most 3 looks through');
    const near = { category: { name: 'x' } };
    expect(() => where({ OR: [near, near, near, near, near] })).not.toThrow();
    expect(whyRefused({ OR: [near, near, near, near, near, near] })).toContain('at most 5 relations in one filter');
    const search = { name: { contains: 'x' } };
    expect(() => where({ AND: Array(5).fill(search) })).not.toThrow();
    expect(whyRefused({ AND: Array(6).fill(search) })).toContain('at most 5 searches');
    expect(whyRefused({ name: { contains: 'x'.repeat(101) } })).toContain('at most 100 characters to search for');
  });

  it('lets mode stand only beside operators that it changes', () => {
    expect(whyRefused({ name: { mode: 'insensitive' } })).toContain('needs an operator beside it');
    expect(whyRefused({ name: { contains: 'x', mode: 'exact' } })).toContain('expected "insensitive" or "default"');
    expect(whyRefused({ price: { gte: 1, mode: 'default' } })).toContain('"mode" is not allowed here');
  });

  it.each([
    [[]],
    ['x'],
    [null],
    [{ OR: { sku: 'a' } }],
    [{ OR: 'x' }],
    [{ AND: [1] }],
    [{ NOT: null }],
    [{ sku: { in: 'a' } }],
    [{ sku: { equals: ['a'] } }],
    [{ sku: ['a'] }],
    [{ sku: { equals: { a: 1 } } }],
    [{ category: 'x' }],
    [{ category: { is: null } }],
  ])('refuses %j', (filter) => {
    refused(filter);
  });

  it('needs a declared equals for the shorthand', () => {
    const policy = new ListPolicy('User', { record: z.object({ name: z.string() }), filter: { name: ['contains'] } });
    expect(whyRefused({ name: 'x' }, policy)).toContain('"equals" is not allowed here; expected one of contains, mode');
  });

  it('says what is wrong where, and names what is allowed', () => {
    const error = refused({ OR: [{ category: { nmae: 'x' } }] });
    expect(error.details).toEqual({
      issues: [
        {
          path: 'where.OR.0.category.nmae',
          message: '"nmae" is not allowed here; expected one of name, products, AND, OR, NOT',
        },
      ],
    });
  });

  it('keeps a policy that declares no filter closed', () => {
    const closed = new ListPolicy('User', { record: z.object({ id: z.uuid() }) });
    refused({ id: 'x' }, closed);
    expect(reasonOf(() => closed.parseFind({ orderBy: '{"id":"asc"}' }))).toContain('expected nothing');
    expect(closed.parseFind({}).orderBy).toEqual([{ id: 'asc' }]);
    expect((many(() => closed).policy as () => unknown)()).toBe(closed);
  });
});
