import { describe, expect, it } from 'vitest';
import { hasLongWord } from '../../../src/chassis/telemetry/long-words.ts';

/** Words of 1 to 9 characters with one other between them, by a number that stands for the text. */
function textOf(seed: number): string {
  let state = seed;
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  return Array.from({ length: next(12) }, () => 'aZ0_-é9bY'.slice(0, 1 + next(9)) + ' .:é'.charAt(next(5))).join('');
}

describe('hasLongWord', () => {
  it.each([1, 2, 7, 12])('finds %i characters of base64url in a row wherever a pattern does', (least) => {
    const pattern = new RegExp(`[\\w-]{${least}}`);
    const found = Array.from({ length: 5_000 }, (_, seed) => [textOf(seed), hasLongWord(textOf(seed), least)] as const);
    expect(found.filter(([text, is]) => is !== pattern.test(text))).toEqual([]);
    expect(new Set(found.map(([, is]) => is))).toEqual(new Set([true, false]));
  });

  it('looks at few characters of a text of ordinary words', () => {
    const text = 'at Object.run (/srv/app/dist/index.js:12:34) '.repeat(20_000);
    const began = performance.now();
    for (let times = 0; times < 10; times += 1) expect(hasLongWord(text)).toBe(false);
    const own = performance.now() - began;
    const before = performance.now();
    expect(/[\w-]{80}/.test(text)).toBe(false);
    expect(own).toBeLessThan(performance.now() - before);
  });
});
