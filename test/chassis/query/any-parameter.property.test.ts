import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRequestException } from '../../../src/chassis/errors/exceptions.ts';
import { buildFindOptions, buildSearchOptions } from '../../../src/chassis/query/search-options.ts';
import { cursors, productList, userList } from './policies.ts';

const names = ['include', 'orderBy', 'where', 'page', 'pageSize', 'cursor', 'count'];
const words = [
  ...[
    'AND',
    'OR',
    'NOT',
    'equals',
    'in',
    'contains',
    'mode',
    'gte',
    'is',
    'some',
    'none',
    'select',
    'take',
    'asc',
    'insensitive',
  ],
  ...[
    'id',
    'sku',
    'name',
    'price',
    'createdAt',
    'category',
    'products',
    'profile',
    'category.name',
    'passwordHash',
    '__proto__',
    'toString',
    '',
  ],
];

const key = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.oneof(key, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.date().map(String)),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  tree.map((value) => JSON.stringify(value)),
  fc.constantFrom('1', '0', '-1', '1e3', '{}', '[]', 'none', 'null'),
);
const query = fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 4 });

/** Any outcome but a result or a BadRequestException fails, and so does one that takes long. */
function survives(parse: () => unknown): void {
  const start = performance.now();
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(BadRequestException);
    const answer = JSON.stringify(error);
    expect(answer.isWellFormed()).toBe(true);
    expect(answer.length).toBeLessThan(10_000);
  }
  expect(performance.now() - start).toBeLessThan(1000);
}

function survivesEverywhere(parameters: Record<string, string>): void {
  for (const policy of [productList, userList]) {
    survives(() => policy.parseSearch(parameters, cursors));
    survives(() => policy.parseFind(parameters));
    survives(() => policy.parseGet(parameters));
    survives(() => buildSearchOptions(parameters, policy.schemas));
  }
  survives(() => buildFindOptions(parameters));
  survives(() => buildSearchOptions(parameters));
}

describe('any text in any parameter', () => {
  it('gives a query or a BadRequestException, at once', () => {
    fc.assert(fc.property(query, survivesEverywhere), { numRuns: 1500 });
  });

  it.each([
    ['deep arrays', '['.repeat(8000)],
    ['deep arrays, closed', '['.repeat(4000) + ']'.repeat(4000)],
    ['deep objects', '{"AND":'.repeat(1000)],
    ['deep conditions', `${'{"AND":['.repeat(800)}{}${']}'.repeat(800)}`],
    ['deep relations', `${'{"category":{"is":'.repeat(300)}{}${'}}'.repeat(300)}`],
    ['a million characters', `"${'x'.repeat(1_000_000)}"`],
    ['a million brackets', '['.repeat(1_000_000)],
    ['many items', JSON.stringify({ sku: { in: Array(4000).fill(1) } })],
    ['many conditions', JSON.stringify({ OR: Array(2000).fill({}) })],
    ['many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`k${index}`, 1])))],
    ['a huge number', '{"price":{"gte":1e400}}'],
    ['a prototype', '{"__proto__":{"polluted":true}}'],
  ])('survives %s', (_name, hostile) => {
    for (const name of names) survivesEverywhere({ [name]: hostile });
    expect({}).not.toHaveProperty('polluted');
  });
});
