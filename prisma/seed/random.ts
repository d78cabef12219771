import { createHash } from 'node:crypto';

/** A source of numbers from 0 up to but not including 1, the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of `choices`. */
export function pick<T>(random: () => number, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T;
}

/**
 * A UUID (version 8) that always belongs to this kind of record and number. Like those that the service makes, later ones
 * sort after earlier ones, which keeps the insertion of many fast.
 */
export function stableId(kind: string, number: number): string {
  const order = number.toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(`${kind} ${number}`).digest('hex');
  return `${order.slice(0, 8)}-${order.slice(8)}-8${hash.slice(0, 3)}-a${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
