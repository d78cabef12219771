import type { ComparisonCost } from './operators.ts';
import type { QueryLimits } from './query-limits.ts';
import { type Path, Refusal, shorten } from './query-refusal.ts';

/** The state of parsing one parameter: the bounds that hold, where it stands, and what was asked for so far. */
export interface ParseContext {
  readonly limits: Readonly<QueryLimits>;
  readonly path: Path;
  /** Related records asked for so far, for each record of the list. */
  related: number;
  /** What costs the database most, counted as it comes: see the limits of the same names. */
  relations: number;
  manyRelations: number;
  searches: number;
}

/** The context in which parsing a parameter begins, under the bounds of a policy. */
export function parseContext(limits: Readonly<QueryLimits>): ParseContext {
  return { limits, path: [], related: 0, relations: 0, manyRelations: 0, searches: 0 };
}

/**
 * Refuses a name. A field that exists but is not declared and one that does not exist come here alike, so that an
 * answer never tells which it was.
 */
export function refuseName(context: ParseContext, name: string, allowed: Iterable<string>): never {
  const names = [...allowed].join(', ') || 'nothing';
  throw new Refusal(
    context.path,
    `"${shorten(name)}" is not allowed here; expected ${names === 'nothing' ? '' : 'one of '}${names}`,
  );
}

/** Counts one more of what costs the database most, and refuses it beyond its limit. */
export function countCost(
  context: ParseContext,
  what: 'relations' | 'manyRelations' | 'searches',
  words: string,
): void {
  context[what] += 1;
  if (context[what] > context.limits[what])
    throw new Refusal(context.path, `expected at most ${context.limits[what]} ${words}`);
}

/** Counts a comparison with one value by what it costs the database; searches are bounded, and so is their text. */
export function countComparison(context: ParseContext, cost: ComparisonCost, value: unknown): void {
  if (cost !== 'search') return;
  countCost(context, 'searches', 'searches through texts in one filter');
  const { searchText } = context.limits;
  if (typeof value !== 'string' || value.length <= searchText) return;
  throw new Refusal(context.path, `expected at most ${searchText} characters to search for, got ${value.length}`);
}

/** Refuses a path that passes through more relations than the policy allows. */
export function checkDepth(context: ParseContext, depth: number): void {
  if (depth <= context.limits.depth) return;
  throw new Refusal(context.path, `expected at most ${context.limits.depth} relations in a row`);
}
