import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const boundMs = 2000;

const names = ['id', 'name', 'price', 'sku', 'category', 'products', 'createdAt', 'OR', 'AND', 'NOT', 'some', 'every'];
const operators = [
  'equals',
  'not',
  'in',
  'contains',
  'mode',
  'gte',
  'lte',
  'take',
  'select',
  'include',
  'where',
  'orderBy',
];
const keys = fc.oneof(fc.constantFrom(...names, ...operators), fc.string({ maxLength: 8 }), fc.constant('__proto__'));
const leaves = fc.oneof(
  fc.constantFrom('asc', 'desc', 'insensitive', '%', '\u0000', '2024-01-01', '9'.repeat(400), '\ud800'),
  fc.string({ unit: 'grapheme' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

/** JSON that looks like what a client would send, and JSON that does not. */
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaves, tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
}));

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  json.map((value) => JSON.stringify(value) ?? ''),
  fc.constant('['.repeat(1000)),
);

async function expectOkOrBadRequest(path: string, query: Record<string, string>): Promise<void> {
  const started = performance.now();
  const { status, body } = await app.get(path, query);
  expect([200, 400], JSON.stringify({ path, query, body })).toContain(status);
  expect(performance.now() - started).toBeLessThan(boundMs);
}

describe('any text in a query parameter gives 200 or 400, in bounded time', () => {
  it.each(['where', 'orderBy', 'include'])('%s of a find list', async (parameter) => {
    await fc.assert(
      fc.asyncProperty(texts, (text) => expectOkOrBadRequest('/api/v1/categories', { [parameter]: text })),
      { numRuns: 150 },
    );
  });

  it.each(['where', 'orderBy', 'include', 'page', 'pageSize', 'cursor', 'count'])(
    '%s of a paginated list',
    async (parameter) => {
      await fc.assert(
        fc.asyncProperty(texts, (text) => expectOkOrBadRequest('/api/v1/products/paginated', { [parameter]: text })),
        { numRuns: 150 },
      );
    },
  );

  it('all of them at once', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, texts, (where, orderBy, include) =>
        expectOkOrBadRequest('/api/v1/products/paginated', { where, orderBy, include }),
      ),
      { numRuns: 100 },
    );
  });
});
