import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  buildFindOptions,
  buildSearchOptions,
  sanitizeSearchOptions,
  validateParam,
  whereSchema,
} from '../../../src/chassis/query/search-options.ts';
import { productList } from './policies.ts';
import { reasonOf, refusalOf } from './refusal-of.ts';

describe('buildFindOptions', () => {
  it('returns include, orderBy and where, each parsed from its parameter', () => {
    const query = {
      include: '{"category":true}',
      orderBy: '{"category.name":"asc","price":"desc"}',
      where: '{"OR":[{"a":{"in":[1]}}]}',
    };
    const options = {
      include: { category: true },
      orderBy: { 'category.name': 'asc', price: 'desc' },
      where: { OR: [{ a: { in: [1] } }] },
    };
    expect(buildFindOptions(query)).toEqual(options);
    expect(Object.keys(buildFindOptions({}))).toEqual(['include', 'orderBy', 'where']);
  });

  it('refuses paging and names what is allowed', () => {
    expect(reasonOf(() => buildFindOptions({ page: '1' }))).toBe(
      'page: not a parameter of this list; expected include, orderBy, where',
    );
  });
});

describe('buildSearchOptions', () => {
  it('returns the page as well, 1 of 10 records unless it is named', () => {
    expect(buildSearchOptions({})).toEqual({
      page: 1,
      pageSize: 10,
      include: undefined,
      orderBy: undefined,
      where: undefined,
    });
    expect(buildSearchOptions({ page: '3', pageSize: '100', where: '{}' })).toMatchObject({
      page: 3,
      pageSize: 100,
      where: {},
    });
  });

  it.each(['0', '-1', '', ' 1', '1 ', '+1', '1e1', '0x10', '1.0', '01', 'x', '99999999999999999999', ['1', '2']])(
    'refuses %j as a page',
    (page) => {
      expect(reasonOf(() => buildSearchOptions({ page }))).toMatch(/^page: /);
    },
  );

  it('refuses a page size above 100 and unknown parameters', () => {
    expect(reasonOf(() => buildSearchOptions({ pageSize: '101' }))).toMatch(/^pageSize: /);
    expect(reasonOf(() => buildSearchOptions({ page: '2', pagesize: '5' }))).toBe(
      'pagesize: Unrecognized key: "pagesize"',
    );
  });

  it('refuses a page beyond what a database can skip to', () => {
    expect(() => buildSearchOptions({ page: '21474836', pageSize: '100' })).not.toThrow();
    expect(reasonOf(() => buildSearchOptions({ page: '21474837', pageSize: '100' }))).toContain(
      'at most record 2147483647',
    );
  });

  it('lets any of the four schemas be replaced', () => {
    const schemas = {
      whereSchema: z.strictObject({ name: z.string() }),
      orderBySchema: z.strictObject({ name: z.enum(['asc']) }).default({ name: 'asc' }),
      includeSchema: z.undefined(),
      paginationSchema: z.strictObject({ page: z.int().positive().max(1000), pageSize: z.int().positive().max(50) }),
    };
    const options = buildSearchOptions({ where: '{"name":"x"}' }, schemas);
    expect(options).toEqual({
      page: 1,
      pageSize: 10,
      include: undefined,
      orderBy: { name: 'asc' },
      where: { name: 'x' },
    });
    expect(options.where.name satisfies string).toBe('x');
    const named = { where: '{"name":"x"}' };
    for (const query of [
      {},
      { where: '{"email":"x"}' },
      { ...named, include: '{}' },
      { ...named, pageSize: '51' },
      { ...named, page: '1001' },
    ]) {
      refusalOf(() => buildSearchOptions(query, schemas));
    }
  });

  it('takes the schemas of a list policy, which accept and refuse what its parser does', () => {
    const options = buildSearchOptions(
      { where: '{"createdAt":{"gte":"2026-01-01"}}', orderBy: '{"name":"asc"}' },
      productList.schemas,
    );
    expect(options).toMatchObject({ where: { createdAt: { gte: new Date('2026-01-01') } }, orderBy: { name: 'asc' } });
    expect(reasonOf(() => buildSearchOptions({ where: '{"passwordHash":"x"}' }, productList.schemas))).toBe(
      reasonOf(() => productList.parseFind({ where: '{"passwordHash":"x"}' })),
    );
    refusalOf(() => buildSearchOptions({ include: '{"owner":true}' }, productList.schemas));
    refusalOf(() => buildSearchOptions({ orderBy: '{"sku":"asc"}' }, productList.schemas));
  });
});

describe('validateParam', () => {
  it('returns the parsed value, and gives an absent one to the schema', () => {
    expect(validateParam('{"a":1}', whereSchema)).toEqual({ a: 1 });
    expect(validateParam(undefined, whereSchema)).toBeUndefined();
    refusalOf(() => validateParam(undefined, z.object({})));
  });

  it.each(['', '{', 'undefined', "{'a':1}", '[]', '1', 'null', '"x"'])('refuses %j', (json) => {
    refusalOf(() => validateParam(json, whereSchema));
  });

  it('lists every issue of the schema with its path', () => {
    const error = refusalOf(() =>
      validateParam('{"a":{"b":1},"c":2}', z.object({ a: z.object({ b: z.string() }), c: z.string() }), 'where'),
    );
    expect(error.details).toMatchObject({ issues: [{ path: 'where.a.b' }, { path: 'where.c' }] });
  });

  it.each(['{"__proto__":{}}', '{"a":{"constructor":1}}', '{"a":[{"prototype":1}]}'])(
    'refuses the poisoned keys of %s',
    (json) => {
      expect(reasonOf(() => validateParam(json, whereSchema))).toContain('is never allowed');
    },
  );

  it('refuses strings that no database takes', () => {
    expect(reasonOf(() => validateParam('{"a":"\\u0000"}', whereSchema))).toContain('NUL');
    expect(reasonOf(() => validateParam('{"a":"\\ud800"}', whereSchema))).toContain('well-formed');
    expect(reasonOf(() => validateParam('{"\\udc00":1}', whereSchema))).toContain('well-formed');
  });

  it('keeps its bounds, the length before anything is parsed', () => {
    const message = (json: string) => reasonOf(() => validateParam(json, whereSchema));
    expect(message('['.repeat(8193))).toContain('at most 8192 characters of JSON, got 8193');
    expect(message(`{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`)).toContain('at most 24 levels of nesting');
    expect(message(`{"a":[${Array(101).fill(1)}]}`)).toContain('at most 100 items, got 101');
    expect(message(JSON.stringify({ a: 'x'.repeat(501) }))).toContain('at most 500 characters, got 501');
    expect(
      message(JSON.stringify(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, 1])))),
    ).toContain('at most 100 keys');
  });
});

describe('sanitizeSearchOptions', () => {
  it.each([
    [{}, { page: 1, pageSize: 10 }],
    [
      { page: 0, pageSize: 0 },
      { page: 1, pageSize: 1 },
    ],
    [
      { page: -5, pageSize: 1000 },
      { page: 1, pageSize: 100 },
    ],
    [
      { page: 2.9, pageSize: 20.5 },
      { page: 2, pageSize: 20 },
    ],
    [
      { page: Number.NaN, pageSize: Number.NaN },
      { page: 1, pageSize: 10 },
    ],
    [
      { page: Number.POSITIVE_INFINITY, pageSize: 100 },
      { page: 21_474_836, pageSize: 100 },
    ],
  ])('clamps %j', (options, clamped) => {
    expect(sanitizeSearchOptions(options)).toEqual(clamped);
  });

  it('drops keys of orderBy that have no direction and keeps the rest as it is', () => {
    const options = { where: { a: 1 }, include: { b: true }, orderBy: { name: 'asc', price: 'up' as 'asc' } } as const;
    expect(sanitizeSearchOptions(options)).toEqual({ ...options, orderBy: { name: 'asc' }, page: 1, pageSize: 10 });
  });
});
