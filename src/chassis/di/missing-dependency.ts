import { AwilixResolutionError } from 'awilix/browser';
import { nearMisses } from '../errors/near-misses.ts';
import type { Container } from './container.ts';

const form = /^Could not resolve '([^']+)'[\s\S]*Resolution path: (.*)$/;

/** Explains a name that is not registered. */
export class MissingDependencyError extends Error {
  override readonly name = 'MissingDependencyError';
  /** The name that is not registered. */
  readonly dependency: string;

  constructor(dependency: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.dependency = dependency;
  }
}

/**
 * Explains an error of the container: the name that is missing, what requires it, and similar names. Returns other errors
 * unchanged.
 */
export function explainMissingDependency(error: unknown, container: Container): unknown {
  if (!(error instanceof AwilixResolutionError)) return error;
  const [, name, path = ''] = form.exec(error.message) ?? [];
  if (name === undefined || container.hasRegistration(name)) return error;
  const askers = path.split(' -> ').slice(0, -1).reverse();
  const near = nearMisses(name, Object.keys(container.registrations));
  return new MissingDependencyError(
    name,
    `Expected a dependency named ${name}${askers.map((asker) => `, asked for by ${asker}`).join('')}; found none` +
      `${near.length > 0 ? `, but ${near.join(' and ')}` : ''}. Correct the name, or provide it in the di.ts of an enabled module.`,
    { cause: error },
  );
}
