import type { ServerResponse } from 'node:http';
import {
  chargeRequest,
  currentClientKey,
  getRequestContext,
  scopes,
  stopAbandoned,
} from '../../context/request-context.ts';
import type { ServiceUnavailableException } from '../../errors/exceptions.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { type DatabaseUse, RecordTurns } from './record-turns.ts';
import { veryLongBodyOf } from './responses.ts';

/** Answers of this many records, related ones among them, take no part: there are many of them, and each is small. */
const ordinaryRecords = 1000;
/** An answer of so many keeps the process busy for some ten milliseconds. */
const longAnswer = 500;
/** What one address may have of all room, beyond its first answer. */
const shareOfAddress = 0.5;
/** How long an answer waits behind others of its address, and how long the first of each: a round has a turn for every address. */
const longestWaitMs = 2000;
const longestRoundMs = 10_000;
const mostWaitingOfAddress = 32;
/** The same while nobody else waits: a few hundred are answered within that time. */
const mostWaitingAlone = 512;

/** An answer needs as many times its length: as text, as objects, as text again, and as bytes that its client has not taken yet. */
const timesLength = 5;
/** Of the records that an answer might have had it is taken to hold this share at least, however short the last ones were. */
const leastShare = 0.25;
/** How long ago it was that an answer was so long counts half. */
const halfLifeMs = 60_000;

/** How long answers to a list were for each record that they might have had, as of late. */
interface Length {
  readonly bytes: number;
  readonly at: number;
}

/** An answer that waits for its room. */
interface Waiting {
  readonly client: string;
  readonly records: number;
  readonly start: () => void;
}

/** Where requests are counted that are refused. */
interface RoomMetrics {
  shed(reason: 'costly'): void;
}

/** How much room there is. */
interface RoomSize {
  /** Records of all answers that are made at once. */
  readonly records: number;
  /** What a record is taken to need while its answer is made, in bytes. */
  readonly recordBytes: number;
}

/** What the policy of a list says that an answer costs, and how many records it may have. */
interface Charged {
  readonly cost?: number;
  readonly costOfCount?: number;
  readonly records?: number;
}

/**
 * Charges the client with what a list costs, or a record with related ones; one of many records, or of so many long ones as
 * answers to the list had lately, is answered once there is room for them.
 */
export async function charged(
  list: object,
  { cost = 0, costOfCount = 0, records = 0 }: Charged,
  response: ServerResponse,
  answer: () => Promise<void>,
): Promise<void> {
  const context = getRequestContext();
  if (context && records >= longAnswer) context.isLong = true;
  chargeRequest(cost);
  if (context && costOfCount > 0) context.costOfCount = costOfCount;
  const room = scopes.getStore()?.service?.recordRoom;
  const needed = room?.neededFor(list, records) ?? 0;
  const endings: (() => void)[] = [];
  if (context) context.endings = endings;
  try {
    await (room && needed > ordinaryRecords ? room.run(needed, answer) : answer());
  } finally {
    if (context) context.endings = undefined;
    for (const end of endings) end();
  }
  const bytes = veryLongBodyOf(response);
  if (bytes !== undefined) room?.noteLong(list, records, bytes, response);
}

/**
 * Room for the records that answers hold while they are made. An answer of tens of thousands of records takes many times
 * the memory of its text, and the time of the event loop: a few at once would end a small pod. Those of one address have
 * half of all room, and addresses take turns, so that nobody waits for all that another has asked for. The widest answer
 * that policies allow may have more records than there is room for; it is made alone. Addresses go in the order of their last
 * turns, those later that had much of the database. Those that do not read a long answer go last.
 */
export class RecordRoom {
  readonly #most: number;
  readonly #recordBytes: number;
  readonly #metrics: RoomMetrics;
  readonly #turns: RecordTurns;
  readonly #lengths = new WeakMap<object, Length>();
  #held = 0;
  readonly #heldBy = new Map<string, number>();
  /** By address; of those that do not read, which all come last, the one that had no turn for longest is first here. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** @param database what addresses have of it. Default: none */
  constructor({ records, recordBytes }: RoomSize, metrics: RoomMetrics, database?: DatabaseUse) {
    this.#turns = new RecordTurns(database);
    this.#most = records;
    this.#recordBytes = recordBytes;
    this.#metrics = metrics;
  }

  /** Records of all answers that are being made. */
  get held(): number {
    return this.#held;
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

  /** Learns of the long answer to the request under way, which might have had so many records of a list. */
  noteLong(list: object, records: number, bytes: number, response: ServerResponse): void {
    const known = this.#lengths.get(list);
    const length = bytes / Math.max(1, records);
    if (known === undefined || length > lengthNow(known))
      this.#lengths.set(list, { bytes: length, at: performance.now() });
    this.#turns.awaitReader(response);
  }

  /**
   * Runs `work`, which makes the answer of the request under way, once there is room.
   *
   * @param records that the answer may hold at most
   * @throws ServiceUnavailableException after two seconds without room, after ten for the first of an address, and at once for
   * an address of which 32 wait beside others, or 512 alone
   */
  async run<T>(records: number, work: () => Promise<T>): Promise<T> {
    if (records <= ordinaryRecords) return work();
    const client = currentClientKey();
    if (this.#isFree(client, records)) this.#hold(client, records);
    else await this.#wait(client, records);
    const context = getRequestContext();
    if (context) context.hasRoom = true;
    try {
      stopAbandoned();
      return await work();
    } finally {
      this.#giveBack(client, records);
    }
  }

  #isFree(client: string, records: number): boolean {
    if (this.#waiting.has(client) || !this.#hasShare(client, records)) return false;
    // Nobody overtakes an address that waits for room only, unless that comes later.
    const next = this.#next();
    const isNext = next === undefined || this.#turns.isBefore(client, next.client);
    return isNext && this.#fits(records);
  }

  #hasShare(client: string, records: number): boolean {
    const own = this.#heldBy.get(client) ?? 0;
    return own === 0 || own + records <= this.#most * shareOfAddress;
  }

  #fits(records: number): boolean {
    return this.#held === 0 || this.#held + records <= this.#most;
  }

  #hold(client: string, records: number): void {
    this.#turns.noteTurn(client);
    this.#held += records;
    this.#heldBy.set(client, (this.#heldBy.get(client) ?? 0) + records);
  }

  #giveBack(client: string, records: number): void {
    this.#held -= records;
    const left = (this.#heldBy.get(client) ?? 0) - records;
    if (left > 0) this.#heldBy.set(client, left);
    else this.#heldBy.delete(client);
    this.#startNext();
  }

  #startNext(): void {
    for (let next = this.#next(); next !== undefined && this.#fits(next.records); next = this.#next()) {
      this.#hold(next.client, next.records);
      next.start();
    }
  }

  /** The one that comes first of those that wait for room only. */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const [client, [first]] of this.#waiting) {
      if (!first || !this.#hasShare(client, first.records)) continue;
      if (next === undefined || this.#turns.isBefore(client, next.client)) next = first;
    }
    return next;
  }

  #wait(client: string, records: number): Promise<void> {
    const line = this.#waiting.get(client) ?? new Set();
    const isAlone = this.#waiting.size === (line.size > 0 ? 1 : 0);
    if (line.size >= (isAlone ? mostWaitingAlone : mostWaitingOfAddress)) throw this.#refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      clearTimeout(timer);
      line.delete(waiting);
      if (line.size === 0) this.#waiting.delete(client);
    };
    const waiting: Waiting = {
      client,
      records,
      start: () => {
        leave();
        // Its address goes to the end.
        if (this.#waiting.delete(client)) this.#waiting.set(client, line);
        resolve();
      },
    };
    const refuse = () => {
      leave();
      reject(this.#refusal());
      this.#startNext();
    };
    const isFirst = () => line.values().next().value === waiting;
    const endWait = () => {
      if (!isFirst()) return refuse();
      timer = setTimeout(refuse, longestRoundMs - longestWaitMs);
    };
    let timer = setTimeout(endWait, longestWaitMs);
    line.add(waiting);
    this.#waiting.set(client, line);
    return promise;
  }

  #refusal(): ServiceUnavailableException {
    this.#metrics.shed('costly');
    return tryAgain('Requests of many records are under way; ask for fewer records, or try again in a moment');
  }
}

function lengthNow({ bytes, at }: Length): number {
  return bytes * 0.5 ** ((performance.now() - at) / halfLifeMs);
}
