import type { ServerResponse } from 'node:http';

const place = Symbol('place among those in flight');

type InFlightResponse = ServerResponse & { [place]?: number };

/**
 * The responses that a server still owes, in no order. Not a Set: each time that a Set makes room, what it leaves behind
 * still leads to the next and to all that was in it, so that requests long answered would fill the old memory.
 */
export class InFlight {
  readonly #responses: InFlightResponse[] = [];

  /** Those owed now. */
  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#responses.values();
  }

  /** Adds one that is not in it. */
  add(response: InFlightResponse): void {
    response[place] = this.#responses.length;
    this.#responses.push(response);
  }

  /** Takes one out that is in it; the last takes its place. */
  remove(response: InFlightResponse): void {
    const last = this.#responses.pop() as InFlightResponse;
    if (last === response) return;
    last[place] = response[place] as number;
    this.#responses[last[place]] = last;
  }
}
