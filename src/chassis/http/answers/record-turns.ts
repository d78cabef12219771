import type { ServerResponse } from 'node:http';
import { currentClientKey } from '../../context/request-context.ts';
import { onClose } from '../pipeline/request-pipeline.ts';

/** How long a client may take to read an answer before it waits for who reads theirs. */
const patienceMs = 1000;
/** Addresses whose last turn is known, the latest. */
const mostKnown = 1000;

/** The order in which addresses have answers of many records made: by their last turns, and last who does not read long ones. */
export class RecordTurns {
  readonly #turnAt = new Map<string, number>();
  /** By address when those were made that it has not read, the oldest first. */
  readonly #unread = new Map<string, Set<{ readonly at: number }>>();

  /** Learns that an address has its turn, however long the answer will be: who stays a little below would always be first. */
  noteTurn(client: string): void {
    this.#turnAt.delete(client);
    this.#turnAt.set(client, performance.now());
    if (this.#turnAt.size > mostKnown) this.#turnAt.delete(this.#turnAt.keys().next().value as string);
  }

  /** Learns that the answer to the request under way is long, and waits until it is read. */
  awaitReader(response: ServerResponse): void {
    if (response.closed) return;
    const client = currentClientKey();
    const answers = this.#unread.get(client) ?? new Set();
    const answer = { at: performance.now() };
    this.#unread.set(client, answers.add(answer));
    onClose(response, () => {
      answers.delete(answer);
      if (answers.size === 0) this.#unread.delete(client);
    });
  }

  /** A number by which addresses come one after the other. */
  orderOf(client: string): number {
    const [oldest] = this.#unread.get(client) ?? [];
    if (oldest && performance.now() - oldest.at > patienceMs) return Number.POSITIVE_INFINITY;
    return this.#turnAt.get(client) ?? 0;
  }
}
