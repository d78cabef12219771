import { operatorNamed } from '../operators.ts';
import type { FieldFilter } from '../policy/policy-rules.ts';
import { countComparison, type ParseContext, type Path, Refusal, refuseName, show } from './parameter.ts';

/** Steps into a JSON value: the key of an object, or the place in a list, from 0, or from -1 backwards. */
export type JsonPath = readonly (string | number)[];

/** A comparison of a Json field, which only the database layer can say to the ORM: each database has its own form. */
export class JsonComparison {
  /** Where the compared value stands; empty for the whole. */
  readonly path: JsonPath;
  readonly operator: 'equals' | 'not';
  readonly value: unknown;

  constructor(path: JsonPath, operator: 'equals' | 'not', value: unknown) {
    this.path = path;
    this.operator = operator;
    this.value = value;
  }
}

const mostSteps = 10;
/** SQLite compares twice as often with each of them. */
const mostPlaces = 3;

/** Whether a step may mean a place in a list, as PostgreSQL reads it. */
export function isPlace(step: string | number): boolean {
  return typeof step === 'number' || /^\s*[+-]?\d{1,6}$/.test(step);
}

/**
 * Reads what is asked of a Json field: `{ equals, not }`, with `path` of a value inside of it, as in
 * `{ path: ['address', 'lines', 0], equals: 'x' }`. A value counts among the searches, because no index is sure to serve it.
 */
export function readJsonComparison(
  rule: FieldFilter,
  input: Record<string, unknown>,
  context: ParseContext,
): JsonComparison[] {
  const { path: steps, ...compared } = input;
  const path = Object.hasOwn(input, 'path') ? readPath(steps, [...context.path, 'path']) : [];
  const names = Object.keys(compared);
  if (names.length === 0) throw new Refusal(context.path, `expected ${[...rule.operators].join(' or ')} beside path`);
  return names.map((name) => {
    context.path.push(name);
    const cost = rule.operators.has(name) ? operatorNamed(name)?.cost.json : undefined;
    if (!cost) return refuseName(context, name, rule.words);
    countComparison(context, cost, compared[name]);
    context.path.pop();
    return new JsonComparison(path, name as JsonComparison['operator'], compared[name]);
  });
}

// A quotation mark cannot be said in a path of SQLite.
function readPath(value: unknown, at: Path): JsonPath {
  const isStep = (step: unknown) =>
    typeof step === 'string' ? !/["\\]/.test(step) : Number.isInteger(step) && Math.abs(step as number) < 1e6;
  const fits = Array.isArray(value) && value.length > 0 && value.length <= mostSteps && value.every(isStep);
  if (fits && value.filter(isPlace).length <= mostPlaces) return value;
  const expected = `an array of 1 to ${mostSteps} keys, without quotation marks and backslashes, at most ${mostPlaces} of them whole numbers, which are places in a list too`;
  throw new Refusal(at, `expected ${expected}, got ${show(value)}`);
}
