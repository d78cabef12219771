/** A statement that has this much of the database, in milliseconds, is slow, until it has less than half of it on average. */
const slowMs = 50;
const mostSlow = 500;

/** The statements that were slow lately. They are few, so that others cost next to nothing here. */
export class SlowStatements {
  readonly #means = new Map<string, number>();

  has(statement: string | undefined): boolean {
    return statement !== undefined && this.#means.has(statement);
  }

  /** Counts what a statement had of the database; the latest counts half. */
  ended(statement: string | undefined, hadMs: number): void {
    if (statement === undefined || (hadMs < slowMs && !this.#means.has(statement))) return;
    const mean = ((this.#means.get(statement) ?? hadMs) + hadMs) / 2;
    this.#means.delete(statement);
    if (mean >= slowMs / 2) this.#means.set(statement, mean);
    if (this.#means.size > mostSlow) this.#means.delete(this.#means.keys().next().value as string);
  }
}
