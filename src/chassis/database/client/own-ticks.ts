import process from 'node:process';
import { getRequestContext } from '../../context/request-context.ts';

/**
 * Has the single reads of each request come in a tick of their own. The ORM makes one query of those that come in the same, in the
 * context of the first: it would wait for the places of that caller, fail with it, and be cancelled when its client leaves.
 */
export class OwnTicks {
  readonly #waiting: (() => void)[] = [];
  /** The request whose reads come in this tick; undefined while it is nobody's. */
  #owner: object | undefined;

  /** Resolves when a single read of the request under way may go to the ORM; at once if the tick is nobody's, or its own. */
  async take(): Promise<void> {
    // What is outside of any request has its ticks together.
    const caller = getRequestContext() ?? this;
    while (this.#owner !== undefined && this.#owner !== caller) await new Promise<void>((go) => this.#waiting.push(go));
    if (this.#owner === caller) return;
    this.#owner = caller;
    // The ORM asks at the end of the tick; what it does before is done in one turn of the microtasks.
    process.nextTick(() => queueMicrotask(() => process.nextTick(() => this.#next())));
  }

  #next(): void {
    this.#owner = undefined;
    this.#waiting.shift()?.();
  }
}
