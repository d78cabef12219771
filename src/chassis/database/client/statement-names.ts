import { forgetUnused, type Kept } from '../statements/forget-unused.ts';

/** Statements that have names at a time, and characters of all and of one: a server keeps twenty bytes for each in each connection. */
const named = { most: 1000, characters: 500_000, longest: 4000 };
/** Once as many have names, another one gets one this often, in milliseconds. */
const replaceEveryMs = 100;

/** A statement with a name. */
interface Named extends Kept {
  readonly name: string;
}

/** What was named so far. */
interface Given {
  readonly count: number;
  readonly characters: number;
}

/**
 * Names statements, so that the server parses and plans each once per connection. Clients choose the shapes of filters: who
 * asks for a thousand would leave no name to the statements of all others. So one that comes later takes the place of one that
 * nobody asked for again, now and then only, because a connection keeps each that it was ever given, until it is closed.
 */
export class StatementNames {
  /** In the order in which they are looked at when a place is needed. */
  readonly #named = new Map<string, Named>();
  #characters = 0;
  #given: Given = { count: 0, characters: 0 };
  #givenAt = 0;
  readonly #opened = new WeakMap<object, Given>();

  /** The name of a statement; '' leaves one without. */
  readonly nameOf = ({ sql }: { readonly sql: string }): string => {
    const known = this.#named.get(sql);
    if (known === undefined) return sql.length <= named.longest && this.#hasRoom(sql.length) ? this.#give(sql) : '';
    known.isUsed = true;
    return known.name;
  };

  /** Notes that a connection was opened, which has no statements yet. */
  opened(connection: object): void {
    this.#opened.set(connection, this.#given);
  }

  /** Whether so many were named since a connection was opened that it may keep twice as much as is named at a time. */
  areTooManyFor(connection: object): boolean {
    const { count, characters } = this.#opened.get(connection) ?? this.#given;
    return this.#given.count - count > named.most || this.#given.characters - characters > named.characters;
  }

  #give(sql: string): string {
    const name = `s${this.#given.count}`;
    this.#given = { count: this.#given.count + 1, characters: this.#given.characters + sql.length };
    this.#characters += sql.length;
    this.#givenAt = performance.now();
    this.#named.set(sql, { name, isUsed: false });
    return name;
  }

  #hasRoom(characters: number): boolean {
    const fits = () => this.#named.size < named.most && this.#characters + characters <= named.characters;
    if (fits()) return true;
    if (performance.now() - this.#givenAt < replaceEveryMs) return false;
    while (!fits()) {
      const [sql = ''] = forgetUnused(this.#named) ?? [];
      this.#characters -= sql.length;
    }
    return true;
  }
}
