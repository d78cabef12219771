import type { ServerResponse } from 'node:http';
import { currentClientKey } from '../../context/request-context.ts';
import { onClose } from '../pipeline/request-pipeline.ts';

/** How long a client may take to read an answer before it waits for who reads theirs. */
const patienceMs = 1000;
/** Addresses that are known for long answers, the latest. */
const mostKnown = 1000;

/** Knows who had long answers, and who does not read them. */
export class LongAnswers {
  /** When an address last had one. */
  readonly #lastAt = new Map<string, number>();
  /** By address when those were made that it has not read, the oldest first. */
  readonly #unread = new Map<string, Set<{ readonly at: number }>>();

  /** Learns that the request under way has one. */
  note(response: ServerResponse): void {
    const client = currentClientKey();
    const now = performance.now();
    this.#lastAt.delete(client);
    this.#lastAt.set(client, now);
    if (this.#lastAt.size > mostKnown) this.#lastAt.delete(this.#lastAt.keys().next().value as string);
    this.#awaitReader(client, response, now);
  }

  /** A number by which addresses come one after the other: when an address last had one, and last those that do not read one. */
  orderOf(client: string): number {
    const [oldest] = this.#unread.get(client) ?? [];
    if (oldest && performance.now() - oldest.at > patienceMs) return Number.POSITIVE_INFINITY;
    return this.#lastAt.get(client) ?? 0;
  }

  #awaitReader(client: string, response: ServerResponse, at: number): void {
    if (response.closed) return;
    const answers = this.#unread.get(client) ?? new Set();
    const answer = { at };
    this.#unread.set(client, answers.add(answer));
    onClose(response, () => {
      answers.delete(answer);
      if (answers.size === 0) this.#unread.delete(client);
    });
  }
}
