import type { Second } from './series.ts';

/** A rate counts as held for this many seconds: within one alone, requests of the second before are answered too. */
const heldFor = 3;
/** What the profile `breakpoint` allows, in milliseconds. */
const slowestP95 = 1000;

/**
 * The most requests a second that were answered for three seconds, on the mean, before the first second in which one
 * failed, an iteration was dropped or the 95th percentile reached a second. 0 where there were no three such seconds.
 */
export function highestHeld(series: readonly Second[]): number {
  const broke = series.findIndex(({ failed, dropped, p95 = 0 }) => failed > 0 || dropped > 0 || p95 >= slowestP95);
  const before = broke === -1 ? series : series.slice(0, broke);
  const means = before
    .slice(0, Math.max(0, before.length - heldFor + 1))
    .map((_, from) => before.slice(from, from + heldFor).reduce((sum, { requests }) => sum + requests, 0) / heldFor);
  return Math.round(Math.max(0, ...means));
}
