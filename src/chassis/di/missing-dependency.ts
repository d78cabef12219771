import { AwilixResolutionError } from 'awilix/browser';
import type { Container } from './container.ts';

const form = /^Could not resolve '([^']+)'[\s\S]*Resolution path: (.*)$/;
const mostChanges = 2;

/** Says of a name that nobody provides what is known of it. */
export class MissingDependencyError extends Error {
  override readonly name = 'MissingDependencyError';
  /** The name that nobody provides. */
  readonly dependency: string;

  constructor(dependency: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.dependency = dependency;
  }
}

/**
 * What to say of an error of the container: of a name that nobody provides which one it is, who asks for it, and which
 * names are nearly the same. Other errors are given back as they are.
 */
export function explainMissingDependency(error: unknown, container: Container): unknown {
  if (!(error instanceof AwilixResolutionError)) return error;
  const [, name, path = ''] = form.exec(error.message) ?? [];
  if (name === undefined || container.hasRegistration(name)) return error;
  const askers = path.split(' -> ').slice(0, -1).reverse();
  const near = Object.keys(container.registrations).filter((known) => distance(name, known) <= mostChanges);
  return new MissingDependencyError(
    name,
    `Expected a dependency named ${name}${askers.map((asker) => `, asked for by ${asker}`).join('')}; found none` +
      `${near.length > 0 ? `, but ${near.join(' and ')}` : ''}. Correct the name, or provide it in the di.ts of an enabled module.`,
    { cause: error },
  );
}

/** How many letters to change, add or leave out, to make one name of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
