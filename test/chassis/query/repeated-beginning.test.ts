import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repeatsAtBeginning } from '../../../src/chassis/query/repeated-beginning.ts';

/** The same, said in the simplest way. */
function asDefined(text: string): number {
  let most = 1;
  for (let end = 1; end <= text.length; end += 1) {
    for (let period = 1; period <= end; period += 1) {
      const beginning = text.slice(0, end);
      if (beginning.slice(period) === beginning.slice(0, end - period)) most = Math.max(most, end / period);
    }
  }
  return most;
}

it.each([
  ['', 1],
  ['a', 1],
  ['abc', 1],
  ['aaa', 3],
  ['aaab', 3],
  ['ababa', 2.5],
  ['abaaaa', 1.5],
])('%j begins with the same %d times', (text, times) => {
  expect(repeatsAtBeginning(text)).toBe(times);
});

it('is what it says, for any text', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 24 });
  fc.assert(fc.property(text, (any) => repeatsAtBeginning(any) === asDefined(any)));
});

it('takes a time in proportion to the text', () => {
  const since = performance.now();
  for (let turn = 0; turn < 20; turn += 1) repeatsAtBeginning('a'.repeat(100_000));
  expect(performance.now() - since).toBeLessThan(2_000);
});
