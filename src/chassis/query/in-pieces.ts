import type { Pause } from './query-types.ts';

/** Characters of JSON that are made or parsed in a few milliseconds. */
const charsAtOnce = 262_144;

/**
 * What `make` gives for each item, in their order, some at a time.
 *
 * @param charsOf how many characters of JSON an item stands for
 * @param pause is waited for after each quarter of a million of them
 */
export async function inPieces<T, R>(
  items: readonly T[],
  make: (item: T, index: number) => R,
  charsOf: (item: T, made: R) => number,
  pause: Pause,
): Promise<R[]> {
  const results: R[] = [];
  let chars = 0;
  for (const [index, item] of items.entries()) {
    const made = make(item, index);
    results.push(made);
    chars += charsOf(item, made);
    if (chars < charsAtOnce) continue;
    chars = 0;
    await pause();
  }
  return results;
}
