/** Statements that are kept. */
const mostStatements = 500;
/** Values of all statements together. Each takes about half a kilobyte, and a client says how many its filter compares with. */
const mostValues = 20_000;

/** What of a statement takes memory: one place for each value. */
interface Weighed {
  readonly values: readonly unknown[];
}

/** Statements by the shape of their reads; the first kept are the first forgotten. */
export class KeptStatements<S extends Weighed> {
  readonly #statements = new Map<string, S | undefined>();
  #values = 0;

  /** Statements that are kept, and shapes for which there is none. */
  get size(): number {
    return this.#statements.size;
  }

  /** Values of those that are kept. */
  get values(): number {
    return this.#values;
  }

  /** The statement of a shape. @param make where it is not known yet; undefined where there is none */
  of(shape: string, make: () => S | undefined): S | undefined {
    if (this.#statements.has(shape)) return this.#statements.get(shape);
    const statement = make();
    this.#statements.set(shape, statement);
    this.#values += statement?.values.length ?? 0;
    for (const [first, kept] of this.#statements) {
      if (this.#statements.size <= mostStatements && this.#values <= mostValues) break;
      this.#statements.delete(first);
      this.#values -= kept?.values.length ?? 0;
    }
    return statement;
  }
}
