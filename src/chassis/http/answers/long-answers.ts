import type { ServerResponse } from 'node:http';
import { currentClientKey } from '../../context/request-context.ts';
import { onClose } from '../pipeline/request-pipeline.ts';

/** An answer needs as many times its length: as text, as objects, as text again, and as bytes that its client has not taken yet. */
const timesLength = 5;
/** Of the records that an answer might have had it is taken to hold this share at least, however short the last ones were. */
const leastShare = 0.25;
/** How long ago it was that an answer was so long counts half. */
const halfLifeMs = 60_000;
/** How long a client may take to read an answer before it waits for who reads theirs. */
const patienceMs = 1000;
/** Addresses that are known for long answers, the latest. */
const mostKnown = 1000;

/** How long answers to a list were for each record that they might have had, as of late. */
interface Length {
  readonly bytes: number;
  readonly at: number;
}

/** Knows how long answers to each list were as of late, who had long ones, and who does not read them. */
export class LongAnswers {
  readonly #recordBytes: number;
  readonly #lengths = new WeakMap<object, Length>();
  /** When an address last had one. */
  readonly #lastAt = new Map<string, number>();
  /** By address when those were made that it has not read, the oldest first. */
  readonly #unread = new Map<string, Set<{ readonly at: number }>>();

  /** @param recordBytes what a record is taken to need while its answer is made, in bytes */
  constructor(recordBytes: number) {
    this.#recordBytes = recordBytes;
  }

  /**
   * How many records of ordinary length an answer to a list may need room for, by how long the latest long ones were. The
   * policy tells only how many records there might be, and most of the widest lists have a part of them.
   */
  neededFor(list: object, records: number): number {
    const known = this.#lengths.get(list);
    if (known === undefined) return records;
    const needed = Math.ceil((records * lengthNow(known) * timesLength) / this.#recordBytes);
    const isOfLate = performance.now() - known.at < halfLifeMs;
    return Math.max(isOfLate ? Math.ceil(records * leastShare) : records, needed);
  }

  /** Learns of the answer to the request under way how long it is, that might have had so many records of a list. */
  note(list: object, records: number, bytes: number, response: ServerResponse): void {
    const known = this.#lengths.get(list);
    const length = bytes / Math.max(1, records);
    const now = performance.now();
    if (known === undefined || length > lengthNow(known)) this.#lengths.set(list, { bytes: length, at: now });
    const client = currentClientKey();
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

function lengthNow({ bytes, at }: Length): number {
  return bytes * 0.5 ** ((performance.now() - at) / halfLifeMs);
}
