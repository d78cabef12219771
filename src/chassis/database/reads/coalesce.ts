import { AnyNull, Decimal } from '@prisma/client/runtime/client';
import { stopAbandoned } from '../../context/request-context.ts';
import { SharedRun } from '../../context/shared-run.ts';
import { BaseException, RequestAbandonedException } from '../../errors/exceptions.ts';
import { inPieces } from '../../query/in-pieces.ts';
import { StoredJson } from '../../query/paging/paging.ts';
import type { Pause } from '../../query/query-types.ts';
import { toDatabaseException } from '../client/database-errors.ts';
import type { RecordKinds } from '../statements/write-statement.ts';

/** One key's work: at most one run is under way, and at most one is to start after it. */
interface Lane {
  underWay: SharedRun | undefined;
  next: SharedRun | undefined;
}

/** What is told of shared reads, and how long they may be joined. */
interface CoalescerOptions {
  /** Told of each read that joined another. */
  readonly counts?: { coalesced(): void } | undefined;
  /**
   * Whether a run that has started may be joined until it says that it looks at the data (`SharedWork.close`), as the queue of
   * a database does when the first turn comes. Default false: until it starts.
   */
  readonly untilTurn?: boolean;
}

/**
 * Shares equal reads. A caller joins only a run that asks the database after the call, so it sees everything that was
 * written before it asked. Runs start at the end of the event loop's turn, where all requests read in that turn meet; a run
 * that is asked for while one of its key is at the database starts when that one has ended.
 *
 * Nobody waits for longer because a read is shared: at the queue of the database a run waits under each of those who share
 * it, and takes the first turn that comes. Who waits for a run under way to end gives it turns too. A caller whose time to
 * wait is over gets an error of its own, and the run goes on for the others.
 *
 * A run takes place in the asynchronous context of the caller that asked for it first; the others keep theirs and see
 * nothing of it. It goes on as long as any of the callers waits. Everyone who shares a run gets
 * the very same result, and the very same error: where many do, one after the other in turns of the event loop, because
 * all of them at once would keep it from everybody else, and fill the memory with answers that no client has had time to take.
 */
export class Coalescer {
  readonly #lanes = new Map<string, Lane>();
  #asked = 0;
  #started = 0;
  readonly #options: CoalescerOptions;

  constructor(options: CoalescerOptions = {}) {
    this.#options = options;
  }

  /** How many reads were asked for and how many were run. */
  get counts(): { asked: number; started: number } {
    return { asked: this.#asked, started: this.#started };
  }

  /** How many keys have a run under way or waiting; 0 when all is quiet. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Joins the next run of `key`, which is `work` when no other is waiting. Equal keys must mean equal work. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = { underWay: undefined, next: undefined };
      this.#lanes.set(key, lane);
    }
    const { underWay } = lane;
    if (underWay?.isOpen || lane.next) this.#options.counts?.coalesced();
    if (underWay?.isOpen) return underWay.join<T>(undefined);
    if (!lane.next) {
      lane.next = new SharedRun(work);
      if (!underWay) this.#schedule(key, lane);
    }
    return lane.next.join<T>(underWay);
  }

  #schedule(key: string, lane: Lane): void {
    setImmediate(() => void this.#start(key, lane));
  }

  async #start(key: string, lane: Lane): Promise<void> {
    const run = lane.next as SharedRun;
    lane.next = undefined;
    lane.underWay = run;
    this.#started += 1;
    if (!this.#options.untilTurn) run.close();
    await run.perform();
    lane.underWay = undefined;
    if (lane.next) this.#schedule(key, lane);
    else this.#lanes.delete(key);
  }
}

/**
 * The text that stands for a read: equal for equal arguments only. Undefined when an argument has no faithful text, so
 * that the read must not be shared.
 */
export function readKey(operation: string, parameters: object): string | undefined {
  try {
    return operation + keyOf(parameters);
  } catch {
    return undefined;
  }
}

/** Says of each value what type it has, and of each text how long it is: JSON would make equal what is not, and take longer. */
function keyOf(value: unknown): string {
  if (typeof value === 'string') return `s${value.length}:${value}`;
  if (typeof value === 'number' && Number.isFinite(value)) return `#${value};`;
  if (typeof value === 'boolean' || value === null || value === undefined) return `${value};`;
  if (value instanceof Date) return `d${value.getTime()};`;
  if (typeof value !== 'object') throw new TypeError('not data');
  let key = '';
  if (Array.isArray(value)) {
    for (const item of value) key += keyOf(item);
    return `[${key}]`;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('an object of a class');
  for (const name in value) key += `${name.length}:${name}${keyOf((value as Record<string, unknown>)[name])}`;
  return `{${key}}`;
}

/** What an object is: a query, what it asks of each field or relation, a filter, or an order. */
type Place = 'query' | 'fields' | 'filter' | 'order';
const placesInQuery: Readonly<Record<string, Place>> = { where: 'filter', select: 'fields', orderScopes: 'fields' };

/**
 * The text that stands for all queries of one shape: two have the same if they differ in compared values and numbers
 * only. Names carry their length, so that no name that a client chose can be taken for the structure around it, and mean
 * what their place says: a field may be called `where`.
 */
export function shapeKey(value: unknown, place: Place = 'query'): string {
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value === null) return 'n';
  const literal = place !== 'filter';
  if (typeof value === 'string') return literal ? `${value.length}:${value}` : '?';
  if (typeof value !== 'object' || value instanceof Date) return value === undefined ? 'u' : '?';
  if (value === AnyNull) return 'a';
  const known = literal ? shapeKeys.get(value) : undefined;
  if (known !== undefined) return known;
  const key = shapeKeyInside(value as Record<string, unknown>, place);
  const isFlat = () => Object.values(value).every((inner) => typeof inner !== 'object');
  if (literal && Object.isFrozen(value) && isFlat()) shapeKeys.set(value, key);
  return key;
}

/** Of what cannot change any more, such as the selection of a list policy. */
const shapeKeys = new WeakMap<object, string>();

function shapeKeyInside(value: Record<string, unknown>, place: Place): string {
  if (Array.isArray(value)) return `[${value.map((item) => shapeKey(item, place)).join('')}]`;
  let key = '';
  for (const name in value) {
    let inner = place;
    if (place === 'query') inner = placesInQuery[name] ?? 'order';
    else if (place === 'fields') inner = 'query';
    else if (name === 'mode' && typeof value[name] === 'string') inner = 'order';
    key += `${name.length}:${name}${shapeKey(value[name], inner)}`;
  }
  return `{${key}}`;
}

/** Freezes records and what they include, so that callers who share them cannot change them for each other. */
export function freezeRecords<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    for (const item of value) freezeRecords(item);
    return Object.freeze(value);
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const key in value) {
    const field = value[key];
    if (typeof field === 'object' && field !== null) freezeRecords(field);
  }
  return Object.freeze(value);
}

/** Requests write their context into their exception, so each that shared a failed read gets one of its own. */
function raiseOwn(error: unknown): never {
  if (!(error instanceof BaseException)) throw error;
  const { message, details, context, cause, headers, isOperational } = error;
  const Exception = error.constructor as new (message: string, details: unknown, options: object) => BaseException;
  throw new Exception(message, details, {
    cause,
    isOperational,
    ...(context && { context }),
    ...(headers && { headers }),
    // To write one for each who shares a refusal costs more than the refusal.
    stack: error.stack?.includes('\n    at ') === true,
  });
}

/** The error of a shared read, for one of its callers. */
export function raiseShared(error: unknown): never {
  // Each of them has gone, or is out of time, for a reason of its own.
  if (error instanceof RequestAbandonedException) stopAbandoned();
  // One that waited for too long by itself has it from the queue.
  raiseOwn(toDatabaseException(error) ?? error);
}

type Fields = Record<string, unknown>;

const made = {
  date: (text: string) => new Date(text),
  bigint: BigInt,
  decimal: (text: string) => new Decimal(text),
};

/** Records as JSON, and as the ORM gives them for code that reads their fields. */
export class StoredRecords<T extends object = object> extends StoredJson {
  readonly #kinds: RecordKinds;
  #records: readonly T[] | undefined;
  #upTo: StoredRecords<T> | undefined;

  constructor(texts: readonly string[], kinds: RecordKinds) {
    super(texts, true);
    this.#kinds = kinds;
  }

  /** The first as JSON by itself. */
  get first(): StoredJson {
    return new StoredJson(this.texts.slice(0, 1), false);
  }

  /** As many of them, from the first on; the same for all who ask for as many. */
  upTo(count: number): StoredRecords<T> {
    if (count >= this.length) return this;
    if (this.#upTo?.length !== count) this.#upTo = new StoredRecords(this.texts.slice(0, count), this.#kinds);
    return this.#upTo;
  }

  /** A new object of the record at this place. */
  at(index: number): T {
    return this.#parse(this.texts[index] as string);
  }

  /** Frozen, and the same for all who ask. */
  get records(): readonly T[] {
    this.#records ??= freezeRecords(this.fresh());
    return this.#records;
  }

  async load(pause: Pause): Promise<void> {
    if (this.#records) return;
    const parse = (text: string) => freezeRecords(this.#parse(text));
    const records = await inPieces(this.texts, parse, ({ length }) => length, pause);
    this.#records ??= freezeRecords(records);
  }

  /** A new object for each caller. */
  fresh(): T[] {
    return this.texts.map((text) => this.#parse(text));
  }

  #parse(text: string): T {
    return revive(JSON.parse(text), this.#kinds) as T;
  }
}

/** Gives the values of a record that JSON does not hold their type; changes the record given. */
function revive(record: Fields, kinds: RecordKinds): Fields {
  for (const name in kinds) {
    const kind = kinds[name] as RecordKinds[string];
    const value = record[name];
    if (value === null) continue;
    if (typeof kind === 'string') record[name] = made[kind](value as string);
    else if (Array.isArray(value)) for (const item of value) revive(item, kind);
    else revive(value as Fields, kind);
  }
  return record;
}
