import { BadRequestException } from '../../errors/exceptions.ts';
import { LightError } from '../../errors/light-error.ts';
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
export class Refusal extends LightError {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message, { stack: false });
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
  return new BadRequestException('Invalid request data', { issues: located }, { cause, stack: false });
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
function shorten(text: string | number): string {
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

/** Refuses the name of a computed field, which no database knows; any other is left alone. */
export function refuseComputed(
  rules: { readonly computed: ReadonlyMap<string, unknown> },
  name: string,
  path: Path,
): void {
  if (rules.computed.has(name))
    throw new Refusal(path, `"${shorten(name)}" is computed, so nothing can be filtered or sorted by it`);
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

type Bounds = Pick<QueryLimits, 'json' | 'nesting' | 'keys' | 'in' | 'string'>;

// A copy of an object with such a key can change the prototype of the copy, or of everything.
const poisoned = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses the JSON text of a parameter within bounds. The length is checked before anything is parsed.
 * A key that stands twice in one object takes its last value, as JSON.parse has it.
 */
export function parseJson(text: unknown, bounds: Bounds): unknown {
  // A parameter that was repeated arrives as an array from parsers that allow it.
  if (typeof text !== 'string') throw new Refusal([], 'expected one text of JSON');
  if (text.length > bounds.json) {
    throw new Refusal([], `expected at most ${bounds.json} characters of JSON, got ${text.length}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the input and changes with its version, so it is not passed on.
    throw new Refusal([], 'expected JSON, such as {"name":"value"}');
  }
  checkBounds(value, bounds);
  return value;
}

/** Refuses a value that is too deep, too large, or holds keys or strings that no database takes. */
export function checkBounds(value: unknown, bounds: Bounds): void {
  new BoundsCheck(bounds).visit(value, 1);
}

class BoundsCheck {
  readonly #bounds: Bounds;
  readonly #path: Path = [];
  #keys = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  visit(value: unknown, level: number): void {
    if (typeof value === 'string') this.#checkString(value);
    else if (typeof value === 'object' && value !== null && !(value instanceof Date)) this.#visitInside(value, level);
  }

  #visitInside(value: object, level: number): void {
    const { nesting } = this.#bounds;
    if (level > nesting) throw new Refusal([], `expected at most ${nesting} levels of nesting`);
    if (Array.isArray(value)) this.#visitItems(value, level);
    else this.#visitEntries(value as Record<string, unknown>, level);
  }

  #visitItems(items: unknown[], level: number): void {
    if (items.length > this.#bounds.in) {
      throw new Refusal(this.#path, `expected at most ${this.#bounds.in} items, got ${items.length}`);
    }
    for (let index = 0; index < items.length; index++) {
      this.#path.push(index);
      this.visit(items[index], level + 1);
      this.#path.pop();
    }
  }

  #visitEntries(value: Record<string, unknown>, level: number): void {
    for (const key of Object.keys(value)) {
      if (poisoned.has(key)) throw new Refusal(this.#path, `the key "${key}" is never allowed`);
      this.#checkString(key);
      this.#countKey();
      this.#path.push(key);
      this.visit(value[key], level + 1);
      this.#path.pop();
    }
  }

  #countKey(): void {
    this.#keys += 1;
    if (this.#keys > this.#bounds.keys) {
      throw new Refusal([], `expected at most ${this.#bounds.keys} keys in all; ask for less at once`);
    }
  }

  #checkString(text: string): void {
    const { string } = this.#bounds;
    if (text.length > string) {
      throw new Refusal(this.#path, `expected strings of at most ${string} characters, got ${text.length}`);
    }
    if (text.includes('\0')) throw new Refusal(this.#path, 'strings with a NUL character are not allowed');
    if (!text.isWellFormed())
      throw new Refusal(this.#path, `${JSON.stringify(shorten(text))} is not well-formed Unicode`);
  }
}

/** The value as an object with keys; anything else is refused at the path. */
export function expectObject(value: unknown, path: Path, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal(path, `expected ${what}`);
}

const parameters: Readonly<Record<'get' | 'find' | 'search', ReadonlySet<string>>> = {
  get: new Set(['include']),
  find: new Set(['include', 'orderBy', 'where']),
  search: new Set(['page', 'pageSize', 'include', 'orderBy', 'where', 'cursor', 'count']),
};

/** Refuses parameters that a request does not take. @param hasSearchBox whether it takes `q` */
export function refuseUnknown(
  query: Readonly<Record<string, unknown>>,
  kind: keyof typeof parameters,
  hasSearchBox = false,
): void {
  const allowed = parameters[kind];
  for (const name of Object.keys(query)) {
    if (allowed.has(name) || (hasSearchBox && name === 'q')) continue;
    const expected = [...allowed, ...(hasSearchBox ? ['q'] : [])].join(', ');
    throw badParameter(name, [{ path: '', message: `not a parameter of this request; expected ${expected}` }]);
  }
}

/** Reads `count`, which is exact unless given. */
export function readCount(count: unknown): 'exact' | 'none' {
  if (count === undefined || count === 'exact') return 'exact';
  if (count === 'none') return 'none';
  throw badParameter('count', [{ path: '', message: `expected exact or none, got ${show(count)}` }]);
}
