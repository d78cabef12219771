import { BadRequestException } from '../../errors/exceptions.ts';
import type { ComparisonCost } from '../operators.ts';
import type { QueryLimits } from '../policy/query-limits.ts';

/** One thing that is wrong with a query parameter, and where in it. */
interface QueryIssue {
  /** Dotted path inside the parameter; empty for the parameter itself. */
  path: string;
  message: string;
}

/** Where a walk through a parameter stands; what it refuses is reported at this path. */
export type Path = (string | number)[];

/** Thrown inside the walks through a parameter; `inParameter` turns it into the exception that answers the request. */
export class Refusal extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path.map((step) => (typeof step === 'number' ? step : shorten(step)));
  }
}

/**
 * The answer to a parameter that breaks a rule (spec.md: Query parameters of list requests, rule 3, and Errors, body
 * rule 5). Each issue's path begins with the parameter.
 */
export function badParameter(parameter: string, issues: QueryIssue[], cause?: unknown): BadRequestException {
  const name = shorten(parameter);
  const located = issues.map(({ path, message }) => ({ path: path ? `${name}.${path}` : name, message }));
  return new BadRequestException('Invalid request data', { issues: located }, { cause });
}

/** Runs a walk through a parameter; what it refuses becomes a BadRequestException that names the parameter. */
export function inParameter<T>(parameter: string, walk: () => T): T {
  try {
    return walk();
  } catch (error) {
    if (error instanceof Refusal)
      throw badParameter(parameter, [{ path: error.path.join('.'), message: error.message }]);
    throw error;
  }
}

/** What a client sent, short enough to be sent back. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) return 'an object';
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  return shorten(String(value));
}

/** At most 64 characters of a name or value, well formed in any case. */
export function shorten(text: string | number): string {
  const whole = String(text);
  return (whole.length > 64 ? `${whole.slice(0, 63)}…` : whole).toWellFormed();
}

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

/** Counts a comparison with one value by what it costs the database; searches and scans are bounded, and so is their text. */
export function countComparison(context: ParseContext, cost: ComparisonCost, value: unknown): void {
  if (cost !== 'search' && cost !== 'scan') return;
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
