import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countJsonValues } from '../../../../src/chassis/http/bodies/count-json-values.ts';

/** The signs that open a list or an object, and those before a further value or after a name, as a parser finds them. */
function signsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  const names = Array.isArray(value) ? 0 : inner.length;
  return 1 + names + Math.max(0, inner.length - 1) + inner.reduce<number>((sum, item) => sum + signsOf(item), 0);
}

describe('countJsonValues', () => {
  it('finds the end of every text where the parser does', () => {
    const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', ':', '{', '[', 'a', 'é') });
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, text, fc.array(tie('tree')), fc.dictionary(text, tie('tree'))),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(countJsonValues(JSON.stringify(value)).values).toBe(signsOf(value));
      }),
      { numRuns: 500 },
    );
  });

  it('counts the names of each object of another shape, and those of the next of its shape no more', () => {
    const [one, other, longer] = [
      { a: 1, b: { a: 1 } },
      { b: { a: 1 }, a: 1 },
      { a: 1, b: { a: 1 }, c: 1 },
    ];
    const lists = [[one], [one, one], [one, other], [one, longer], [longer, other, one]];
    const text = JSON.stringify(lists.map((list) => ({ list, filler: ' '.repeat(3_000) })));
    // Two of what is around them, and one of the inner object.
    expect(countJsonValues(text).shaping).toBe(2 + 1 + 2 + 2 + 3);
  });

  it('counts no shapes of a short text', () => {
    expect(countJsonValues('[{"a":1},{"b":1}]')).toEqual({ values: 6, shaping: 0 });
  });

  it.each([
    ['a name before many colons, which is no JSON', `{"${'n'.repeat(900_000)}"${':'.repeat(49_000)}`],
    ['backslashes, of which none ends the text', `{"a":"${'\\'.repeat(500_000)}`],
    ['quotes that end no text', `{"a":"${'\\"'.repeat(500_000)}`],
  ])('takes a time that grows with the text alone: %s', (_what, text) => {
    const started = performance.now();
    countJsonValues(text);
    // Looked through once, they take 10 ms; once for each sign, minutes.
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
