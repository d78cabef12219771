import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';

/** Clients that keep their connections and ask all the time, and mind `Connection: close` as a load balancer does. */
export class KeepAliveLoad {
  /** Requests answered so far. */
  count = 0;
  /** Until when clients that are dismissed come back, on a new connection. */
  comeBackUntil = Number.POSITIVE_INFINITY;
  readonly failures: string[] = [];
  /** Resolves when the server has dismissed every client. */
  readonly ended: Promise<unknown>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 20 });
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    this.ended = Promise.all(Array.from({ length: 20 }, () => this.#client()));
  }

  /** Resolves when more than `count` requests are answered. */
  answered(count: number): Promise<void> {
    return expect.poll(() => this.count, { timeout: 60_000, interval: 20 }).toBeGreaterThan(count);
  }

  async #client(): Promise<void> {
    for (let open = true; open; ) {
      try {
        const response = await this.#ask();
        await text(response);
        this.count += 1;
        if (response.statusCode !== 200) this.failures.push(String(response.statusCode));
        open = response.headers.connection !== 'close' || Date.now() < this.comeBackUntil;
      } catch (error) {
        this.failures.push(String(error));
        open = false;
      }
    }
  }

  #ask(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(this.#url, { agent: this.#agent }, resolve).on('error', reject);
    });
  }
}
