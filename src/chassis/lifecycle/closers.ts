/** What a running service has opened, closed in reverse. */
export class Closers {
  readonly #closers: { name: string; close: () => unknown }[] = [];

  /** Registers how to close what was just opened; `name` appears in the error if that fails. */
  add(name: string, close: () => unknown): void {
    this.#closers.push({ name, close });
  }

  /**
   * Closes everything, last opened first, each also when another failed. Calling it again closes nothing twice.
   *
   * @throws AggregateError of all that failed
   */
  async closeAll(): Promise<void> {
    const errors: Error[] = [];
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      try {
        await closer.close();
      } catch (cause) {
        errors.push(new Error(`Closing ${closer.name} failed`, { cause }));
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => error.message).join('; '));
  }
}
