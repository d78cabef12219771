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
        expect(countJsonValues(JSON.stringify(value))).toBe(signsOf(value));
      }),
      { numRuns: 500 },
    );
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
