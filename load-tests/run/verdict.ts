import type { MeasuredRun } from './k6.ts';

/**
 * Whether a run ended as it should: no threshold was crossed, and nothing is worse than in its base. One that looks for the
 * breaking point ends where thresholds are crossed; it has to have held a rate before, which a log does not tell.
 */
export function hasPassed({ profile, requests, crossed, held, differences = [] }: MeasuredRun): boolean {
  const isHeld = requests > 0 && held !== 0;
  const isAsItShould = profile === 'breakpoint' ? isHeld : crossed.length === 0;
  return isAsItShould && differences.every(({ verdict }) => verdict !== 'regression');
}

/** The scenarios that ran on no list. */
export function neverRun<T extends string>(asked: readonly T[], runs: readonly { readonly scenario: string }[]): T[] {
  return asked.filter((name) => runs.every(({ scenario }) => scenario !== name));
}
