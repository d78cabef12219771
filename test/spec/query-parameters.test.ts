import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  BadRequestException,
  buildFindOptions,
  buildSearchOptions,
  defaultQuerySchemas,
  sanitizeSearchOptions,
  validateParam,
} from '../../src/chassis/index.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { expectRefused } from '../support/expect-refused.ts';

const app = await bootTestApp();
const products = '/api/v1/products';
const paginated = `${products}/paginated`;

describe('spec.md: Query parameters of list requests', () => {
  it('rule 1: the find builder returns include, orderBy and where, each parsed from its parameter', () => {
    expect(buildFindOptions({ include: '{"a":true}', orderBy: '{"b":"asc"}', where: '{"c":1}' })).toEqual({
      include: { a: true },
      orderBy: { b: 'asc' },
      where: { c: 1 },
    });
  });

  it('rule 2: the search builder returns SearchOptions', () => {
    expect(buildSearchOptions({ page: '2', pageSize: '5', where: '{"c":1}' })).toMatchObject({
      page: 2,
      pageSize: 5,
      where: { c: 1 },
    });
  });

  it.each(['include', 'orderBy', 'where'])(
    'rule 3: %s that is no JSON, or fails its schema, is a BadRequestException',
    async (name) => {
      expect(() => buildFindOptions({ [name]: '{' })).toThrow(BadRequestException);
      expect(() => buildFindOptions({ [name]: '[1]' })).toThrow(BadRequestException);
      await expectRefused(app, products, { [name]: '{' }, name);
    },
  );

  it('rule 4: single-parameter validation returns the parsed value or raises the same exception', () => {
    expect(validateParam('{"a":1}', z.object({ a: z.number() }))).toEqual({ a: 1 });
    expect(() => validateParam('{"a":"x"}', z.object({ a: z.number() }))).toThrow(BadRequestException);
    expect(() => validateParam('nonsense', z.any())).toThrow(BadRequestException);
  });

  it('rule 5: omitted page and pageSize take the defaults 1 and 10; unknown keys are refused', async () => {
    expect((await app.get(paginated)).body).toMatchObject({ page: 1, pageSize: 10 });
    expect(defaultQuerySchemas.paginationSchema.safeParse({ page: 1, pageSize: 10, extra: 1 }).success).toBe(false);
    await expectRefused(app, paginated, { extra: 1 }, 'extra');
  });

  it.each([
    { page: 0 },
    { page: -1 },
    { page: 'x' },
    { page: '1.5' },
    { page: '1e3' },
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 'x' },
  ])('refuses %j', async (query) => {
    await expectRefused(app, paginated, query as Record<string, string>, Object.keys(query)[0] as string);
  });

  it('page and pageSize are no find parameters', async () => {
    await expectRefused(app, products, { page: 1 }, 'page');
  });

  it('any of the four schemas may be replaced', () => {
    const paginationSchema = z.strictObject({ page: z.int().max(1000), pageSize: z.int().max(50) });
    const whereSchema = z.strictObject({ name: z.string() }).optional();
    expect(() => buildSearchOptions({ pageSize: '51' }, { paginationSchema })).toThrow(BadRequestException);
    expect(() => buildSearchOptions({ page: '1001' }, { paginationSchema })).toThrow(BadRequestException);
    expect(() => buildFindOptions({ where: '{"other":1}' }, { whereSchema })).toThrow(BadRequestException);
    expect(buildFindOptions({ where: '{"name":"x"}' }, { whereSchema }).where).toEqual({ name: 'x' });
  });
});

describe('spec.md: Limits', () => {
  it('programmatic search options are clamped: page 1 at least, pageSize 1 to 100, defaults 1 and 10', () => {
    expect(sanitizeSearchOptions({})).toMatchObject({ page: 1, pageSize: 10 });
    expect(sanitizeSearchOptions({ page: -3, pageSize: 1000 })).toMatchObject({ page: 1, pageSize: 100 });
    expect(sanitizeSearchOptions({ page: 2, pageSize: 0 })).toMatchObject({ page: 2, pageSize: 1 });
  });

  it('the default pagination schema allows a pageSize of 100 and not of 101', () => {
    const { paginationSchema } = defaultQuerySchemas;
    expect(paginationSchema.safeParse({ page: 1, pageSize: 100 }).success).toBe(true);
    expect(paginationSchema.safeParse({ page: 1, pageSize: 101 }).success).toBe(false);
    expect(paginationSchema.safeParse({ page: 0, pageSize: 10 }).success).toBe(false);
  });
});
