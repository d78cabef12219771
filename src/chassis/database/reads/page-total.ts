const remembered = 1000;

/**
 * Remembers the last total of each filter, at most 1,000 of them, the least recently used forgotten first. It only tells
 * whether a page is likely to show the total by itself; no answer is ever made from it.
 */
export class TotalHints {
  readonly #totals = new Map<string, number>();

  /** Whether a page that ends before record `end` likely reaches past the last one. */
  endsWithin(key: string | undefined, end: number): boolean {
    const total = key === undefined ? undefined : this.#totals.get(key);
    return total !== undefined && total < end;
  }

  /** Keeps the total of a filter; a filter without a key is not kept. */
  remember(key: string | undefined, total: number): void {
    if (key === undefined) return;
    this.#totals.delete(key);
    this.#totals.set(key, total);
    if (this.#totals.size > remembered) this.#totals.delete(this.#totals.keys().next().value as string);
  }
}

/**
 * The total that a page reveals by itself: one that is not full, and not empty past the first record, ends the list.
 * Undefined when only a count can tell.
 */
export function revealedTotal(skip: number, take: number, found: number): number | undefined {
  return found < take && (found > 0 || skip === 0) ? skip + found : undefined;
}
