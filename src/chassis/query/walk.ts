import type { QueryLimits } from './query-limits.ts';
import { type Path, Refusal, shorten } from './query-refusal.ts';

/** A walk through one parameter: the bounds it keeps and where it stands. */
export interface Walk {
  readonly limits: Readonly<QueryLimits>;
  readonly path: Path;
  /** Related records asked for so far, for each record of the list. */
  related: number;
  /** What costs the database most, counted as it comes: see the limits of the same names. */
  relations: number;
  manyRelations: number;
  searches: number;
}

/** Starts a walk under the bounds of a policy. */
export function startWalk(limits: Readonly<QueryLimits>): Walk {
  return { limits, path: [], related: 0, relations: 0, manyRelations: 0, searches: 0 };
}

/**
 * Refuses a name. A field that exists but is not declared and one that does not exist come here alike, so that an
 * answer never tells which it was (design: list policy).
 */
export function refuseName(walk: Walk, name: string, allowed: Iterable<string>): never {
  const names = [...allowed].join(', ') || 'nothing';
  throw new Refusal(
    walk.path,
    `"${shorten(name)}" is not allowed here; expected ${names === 'nothing' ? '' : 'one of '}${names}`,
  );
}

/** Counts one more of what costs the database most, and refuses it beyond its limit. */
export function countCost(walk: Walk, what: 'relations' | 'manyRelations' | 'searches', words: string): void {
  walk[what] += 1;
  if (walk[what] > walk.limits[what]) throw new Refusal(walk.path, `expected at most ${walk.limits[what]} ${words}`);
}

/** Refuses a path that passes through more relations than the policy allows. */
export function checkDepth(walk: Walk, depth: number): void {
  if (depth <= walk.limits.depth) return;
  throw new Refusal(walk.path, `expected at most ${walk.limits.depth} relations in a row`);
}
