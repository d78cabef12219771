import type { Socket } from 'node:net';

/**
 * Connections whose request was refused. Each rests before its next request is read, so that clients that come again at once,
 * thousands of times a second, do not take the time of those that are let in. Meanwhile what they send waits in the kernel,
 * where it costs nothing.
 */
export class RestingConnections {
  readonly #restMs: number;
  #refused: Socket[] = [];

  /** @param restMs how long each rests */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** Has a connection rest once this turn of the event loop is over: until then Node goes on with the request. */
  add(connection: Socket): void {
    if (this.#refused.push(connection) === 1) setImmediate(this.#rest);
  }

  readonly #rest = () => {
    const resting = this.#refused;
    this.#refused = [];
    for (const connection of resting) connection.pause();
    setTimeout(wake, this.#restMs, resting).unref();
  };
}

function wake(resting: readonly Socket[]): void {
  for (const connection of resting) connection.resume();
}
