import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyListPolicy } from '../../src/chassis/index.ts';
import { logicalOperators, operators, relationOperators } from '../../src/chassis/query/operators.ts';
import type { ReadableList } from '../support/readable-lists.ts';

const boundMs = 2000;

/** Texts as a client would send them, and others. @param names every name that some policy allows */
function anyText(names: readonly string[]) {
  const words = [...logicalOperators, ...relationOperators(true), ...relationOperators(false), 'mode', 'path'];
  const options = ['take', 'select', 'include', 'where', 'orderBy'];
  const keys = fc.oneof(
    fc.constantFrom(...names, ...Object.keys(operators), ...words, ...options),
    fc.string({ maxLength: 8 }),
    fc.constant('__proto__'),
  );
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
  return fc.oneof(
    fc.string({ unit: 'binary' }),
    json.map((value) => JSON.stringify(value) ?? ''),
    fc.constant('['.repeat(1000)),
  );
}

function namesOf({ fields, filters, sorts, includes }: ReturnType<AnyListPolicy['describe']>): string[] {
  return [...fields, ...Object.keys(filters), ...sorts, ...Object.keys(includes)];
}

async function expectOkOrBadRequest({ client, path }: ReadableList, suffix: string, query: Record<string, string>) {
  const started = performance.now();
  const { status, body } = await client.get(path + suffix, query);
  expect([200, 400], JSON.stringify({ path, query, body })).toContain(status);
  expect(performance.now() - started).toBeLessThan(boundMs);
}

/** Expects of each list that it answers any text in any parameter with 200 or 400, in bounded time. */
export function describeAnyQuery(lists: readonly ReadableList[]): void {
  const texts = anyText([...new Set(lists.flatMap(({ policy }) => namesOf(policy.describe())))]);
  describe.each(lists.map((list) => [list.name, list] as const))('%s', (_name, list) => {
    it.each(['where', 'orderBy', 'include'])(
      'answers any text in %s of a find list with 200 or 400, in bounded time',
      async (parameter) => {
        const ask = (text: string) => expectOkOrBadRequest(list, '', { [parameter]: text });
        await fc.assert(fc.asyncProperty(texts, ask), { numRuns: 30 });
      },
    );

    it.each(['where', 'orderBy', 'include', 'page', 'pageSize', 'cursor', 'count'])(
      'answers any text in %s of a paginated list with 200 or 400, in bounded time',
      async (parameter) => {
        const ask = (text: string) => expectOkOrBadRequest(list, '/paginated', { [parameter]: text });
        await fc.assert(fc.asyncProperty(texts, ask), { numRuns: 40 });
      },
    );

    it('answers any texts in all of them at once with 200 or 400, in bounded time', async () => {
      const ask = (where: string, orderBy: string, include: string) =>
        expectOkOrBadRequest(list, '/paginated', { where, orderBy, include });
      await fc.assert(fc.asyncProperty(texts, texts, texts, ask), { numRuns: 50 });
    });
  });
}
