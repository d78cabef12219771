import { secretField, secretParameter } from './secret-names.ts';

/** The names that a service masks beside those that are secret everywhere: `maskInLogs` adds to them. */
export class LogMasks {
  readonly #named = new Set<string>();
  /** Names of log fields and parameters are few, so each is tested once; the bound is for names that clients make up. */
  readonly #fields = new Map<string, boolean>();
  readonly #parameters = new Map<string, boolean>();

  /** Masks more names, in upper and lower case. */
  add(...names: string[]): void {
    for (const name of names) this.#named.add(name.toLowerCase());
    this.#fields.clear();
    this.#parameters.clear();
  }

  /** Whether the value of a field of this name is masked. */
  hasField(name: string): boolean {
    return this.#fields.get(name) ?? this.#learn(this.#fields, name, secretField);
  }

  /** Whether the value of a URL's parameter of this name is masked. */
  hasParameter(name: string): boolean {
    return this.#parameters.get(name) ?? this.#learn(this.#parameters, name, secretParameter);
  }

  #learn(known: Map<string, boolean>, name: string, secrets: RegExp): boolean {
    const secret = secrets.test(name) || this.#named.has(name.toLowerCase());
    if (known.size < 1_000 && name.length <= 64) known.set(name, secret);
    return secret;
  }
}
