import { asFunction, type BuildResolver, type Resolver } from 'awilix/browser';
import type { z } from 'zod';
import type { Container } from './container.ts';

/**
 * A class by what it makes. The parameters of its constructor are left out: they are parts of the cradle, which is made of
 * these very classes, so that the compiler would go round in a circle.
 */
export type Class<T = unknown> = { readonly prototype: T } & (new (...parameters: never) => unknown);

/** A class as the container makes it, from the cradle. */
export type Made = new (cradle: object) => object;

/** What a module provides: classes, made once with the cradle, or awilix resolvers for anything else. */
export type Dependencies = Readonly<Record<string, Class | Resolver<unknown>>>;

/** The part of the cradle that `dependencies` fill; a module's di.ts extends `Slipway.Cradle` with it. */
export type Provided<D extends Dependencies> = {
  [Name in keyof D]: D[Name] extends Class<infer T> ? T : D[Name] extends Resolver<infer T> ? T : never;
};

/**
 * Makes a module's `registerDependencies` (spec.md: Loaders, loadDI).
 *
 * @param dependencies by the name under which the cradle gives them
 * @returns a function that registers all of them, or raises an error that names those already taken; with the settings that
 * they need, such as the URL of an `httpClient`
 */
export function provide(dependencies: Dependencies): ((container: Container) => void) & { settings: z.ZodRawShape } {
  function registerDependencies(container: Container): void {
    const taken = Object.keys(dependencies).filter((name) => container.hasRegistration(name));
    if (taken.length > 0) {
      throw new Error(
        `Expected dependency names that are free, found ${taken.join(', ')} registered by another module; ` +
          'give each dependency a name of its own in di.ts.',
      );
    }
    for (const [name, dependency] of Object.entries(dependencies)) {
      container.register(name, typeof dependency === 'function' ? madeOnce(dependency as Made) : dependency);
    }
  }
  const declared = Object.values(dependencies) as { settings?: z.ZodRawShape }[];
  return Object.assign(registerDependencies, {
    settings: Object.assign({}, ...declared.map(({ settings }) => settings)),
  });
}

/** Makes an instance of a class for each service, from a cradle that gives what is asked of it by name and nothing else. */
export function madeOnce(Class: Made): BuildResolver<object> {
  return asFunction((cradle: object) => new Class(byName(cradle, Class.name))).singleton();
}

/** A rest or a spread asks for all that there is, this very class among it. */
function byName(cradle: object, asker: string): object {
  return new Proxy(cradle, {
    ownKeys() {
      throw new TypeError(
        `Expected the constructor of ${asker} to name each dependency, found a rest or a spread of all, such as ` +
          '{ repository, ...others }; name them one by one, or take them as one parameter: ' +
          'constructor(dependencies: Dependencies) { super(dependencies); }.',
      );
    },
  });
}
