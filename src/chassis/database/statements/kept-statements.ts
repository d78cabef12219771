import { forgetUnused, type Kept } from './forget-unused.ts';

/** Statements that are kept. */
const mostStatements = 500;
/** Values of all statements together. Each takes about half a kilobyte, and a client says how many its filter compares with. */
const mostValues = 20_000;

/** What of a statement takes memory: one place for each value. */
interface Weighed {
  readonly values: readonly unknown[];
}

interface KeptStatement<S> extends Kept {
  readonly statement: S | undefined;
}

/** Statements by the shape of their reads. What was not asked for again is forgotten first, the first kept before others. */
export class KeptStatements<S extends Weighed> {
  readonly #kept = new Map<string, KeptStatement<S>>();
  #values = 0;

  /** Statements that are kept, and shapes for which there is none. */
  get size(): number {
    return this.#kept.size;
  }

  /** Values of those that are kept. */
  get values(): number {
    return this.#values;
  }

  /** The statement of a shape. @param make where it is not known yet; undefined where there is none */
  of(shape: string, make: () => S | undefined): S | undefined {
    const known = this.#kept.get(shape);
    if (known) {
      known.isUsed = true;
      return known.statement;
    }
    const statement = make();
    this.#kept.set(shape, { statement, isUsed: false });
    this.#values += statement?.values.length ?? 0;
    while (this.#kept.size > mostStatements || this.#values > mostValues) {
      const [, forgotten] = forgetUnused(this.#kept) ?? [];
      this.#values -= forgotten?.statement?.values.length ?? 0;
    }
    return statement;
  }
}
