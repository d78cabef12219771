import type { ServerResponse } from 'node:http';
import { currentClientKey } from '../../context/request-context.ts';
import { onClose } from '../pipeline/request-pipeline.ts';

/** How long a client may take to read an answer before it waits for who reads theirs. */
const patienceMs = 1000;
/** Addresses whose last turn is known, the latest. */
const mostKnown = 1000;

/** What addresses have of the database. */
export interface DatabaseUse {
  /** What the requests of one had of it lately, in milliseconds. */
  hadLately(address: string, now: number): number;
}

/** By how much each millisecond that an address had of the database puts off its turn, and all together at most, in ms. */
const delayOfMs = 3;
const mostDelayMs = 10_000;

/**
 * The order in which addresses have answers of many records made: by their last turns, those later that had much of the database of
 * late, because who keeps the database busy with other work makes these take long too. That puts off a turn by ten seconds at most:
 * whoever has much to do, such as a shop with its pages, has its turn as well. Last comes who does not read long ones.
 */
export class RecordTurns {
  readonly #database: DatabaseUse | undefined;
  readonly #turnAt = new Map<string, number>();
  /** By address when those were made that it has not read, the oldest first. */
  readonly #unread = new Map<string, Set<{ readonly at: number }>>();

  /** @param database by default no address had any of one */
  constructor(database?: DatabaseUse) {
    this.#database = database;
  }

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

  /** Whether one address comes before another. */
  isBefore(client: string, other: string): boolean {
    const now = performance.now();
    const [isLast, isOtherLast] = [this.#keepsUnread(client, now), this.#keepsUnread(other, now)];
    if (isLast || isOtherLast) return !isLast;
    return this.#orderOf(client, now) < this.#orderOf(other, now);
  }

  #orderOf(client: string, now: number): number {
    const hadMs = this.#database?.hadLately(client, now) ?? 0;
    return (this.#turnAt.get(client) ?? 0) + Math.min(mostDelayMs, hadMs * delayOfMs);
  }

  #keepsUnread(client: string, now: number): boolean {
    const [oldest] = this.#unread.get(client) ?? [];
    return oldest !== undefined && now - oldest.at > patienceMs;
  }
}
