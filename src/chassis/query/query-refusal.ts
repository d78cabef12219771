import { BadRequestException } from '../errors/exceptions.ts';

/** One thing that is wrong with a query parameter, and where in it. */
export interface QueryIssue {
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
