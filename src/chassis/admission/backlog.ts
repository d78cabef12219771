import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { hasBody } from '../http/bodies/request-body.ts';
import { type BodyCount, holdWaiting } from '../http/bodies/unread-body.ts';
import { noteArrival } from '../http/pipeline/request-context-of.ts';
import { onClose } from '../http/pipeline/request-pipeline.ts';
import { type DatabaseQueue, type DatabaseWait, ServingRate, type WaitSource } from './standing-wait.ts';

/** A request that was let in. */
interface Arrival {
  /** What its client is counted under. */
  client: string;
  res: ServerResponse;
  /** Hands it to the app, or refuses it for the time that it has waited, in milliseconds. */
  begin: (waitedMs: number) => void;
  /** Answers it, because its body has to give way to others. */
  refuse: (res: ServerResponse) => void;
}

interface Waiting extends Arrival {
  since: number;
  /** Otherwise it would begin in the context of another. */
  own: AsyncResource;
  /** Ends the count of its body, if it has one. */
  giveBack: (() => void) | undefined;
}

/** What is known of the queries before which requests wait. */
type WaitingQueries = Pick<DatabaseQueue, 'places' | 'ordinaryQueries' | 'ordinaryHeldBackQueries'>;

/** The requests of one client that wait, the first to come first. In an array: tables of a Set keep all that ever waited. */
interface Line {
  client: string;
  waiting: Waiting[];
}

/** The database is kept busy by so many waiting queries for each that runs, and by so many at least. */
const queriesPerPlace = 1.5;
const leastQueries = 16;
/** While nobody waits here, so many times as much is no burden yet, and what needs no database does not wait for it. */
const unnoticed = 16;
/** Requests that begin before the loop looks at what else has come: what they ask of the database is known only then. */
const atOnce = 16;
/** Requests that begin at once while the queue empties, under way at the same time: so few that it does empty. */
const mostEarly = 16;
const lookMs = 1;
const learnMs = 100;

/**
 * Requests that were let in and have not begun, because enough queries wait for the database. One that begins makes much
 * that lives until it is answered: its context, its promises, its queries. Where a thousand wait for the database, all of that
 * outlives the young generation of the heap, and its collection takes more time than the requests do. One that has not begun is
 * no more than what Node has parsed, and what comes in of its body, which counts with all bodies that come in. One whose client
 * has gone is forgotten at once.
 *
 * Clients have turns, one request each, so who asks for little waits for one of each other client. While the long queue of the
 * database empties nobody has a turn here; until then a client with none here has one request begin at once, which the
 * database serves in its turn among clients. Otherwise it would wait for all that another has asked for.
 */
export class Backlog implements WaitSource {
  readonly #database: WaitingQueries;
  readonly #wait: Pick<DatabaseWait, 'msFor'>;
  readonly #bodies: BodyCount;
  /** How many begin in a millisecond; known from a tenth of a second after the first did. */
  readonly #rate = new ServingRate();
  readonly #lines = new Map<string, Line>();
  /** The same, in the order of their turns. */
  readonly #turns: Line[] = [];
  /** The latest request of each client that began at once while the queue empties. */
  readonly #early = new Map<string, ServerResponse>();
  #size = 0;
  #begun = 0;
  #learntAt = Number.POSITIVE_INFINITY;
  #looks = false;

  /** @param wait tells how long requests take while none has begun here: that none begins before the database's queue is short says nothing */
  constructor(database: WaitingQueries, wait: Pick<DatabaseWait, 'msFor'>, bodies: BodyCount) {
    this.#database = database;
    this.#wait = wait;
    this.#bodies = bodies;
  }

  /** Requests that wait. */
  get size(): number {
    return this.#size;
  }

  /** How long a request waits that comes now, in milliseconds. */
  at(now: number): number {
    if (this.#size > 0 && now - this.#learntAt >= learnMs) this.#learn(now);
    return this.#msFor(this.#size);
  }

  /** The same for one of a client, whose turns take turns with those of others: for one of each, after each of its own. */
  ofClient(client: string): number {
    const own = this.#lines.get(client)?.waiting.length ?? 0;
    return this.#msFor(Math.min(this.#size, this.#turns.length * (own + 1)));
  }

  #msFor(count: number): number {
    return (this.#rate.isKnown ? this.#rate : this.#wait).msFor(count);
  }

  /** Whether a request has to wait, for which it is to be added; otherwise it begins at once. */
  delays(client: string, res: ServerResponse): boolean {
    if (this.#size === 0 && !this.#hasMoreThan(unnoticed)) return false;
    return !this.#isEarly(client, res);
  }

  /** Begins a request in its turn. */
  add(arrival: Arrival, now: number): void {
    if (this.#size === 0) this.#open();
    this.#have({ ...arrival, since: now, own: new AsyncResource('WaitingRequest'), giveBack: undefined });
  }

  /** Begins a request that is not to wait, and the next of those that do: they would wait for all that overtake them, without end. */
  overtake(begin: () => void): void {
    begin();
    while (this.#size > 0) if (this.#beginNext()) return;
  }

  /** Whether a request begins at once because the queue empties and its client waits neither here nor there. */
  #isEarly(client: string, res: ServerResponse): boolean {
    const empties = this.#size === 0 || this.#learntAt === Number.POSITIVE_INFINITY;
    if (!empties || this.#lines.has(client) || this.#early.get(client)?.destroyed === false) return false;
    if (this.#early.size >= mostEarly)
      for (const [other, { destroyed }] of this.#early) if (destroyed) this.#early.delete(other);
    const isEarly = this.#early.size < mostEarly || this.#early.has(client);
    if (isEarly) this.#early.set(client, res);
    return isEarly;
  }

  #have(waiting: Waiting): void {
    const { client, refuse, res } = waiting;
    this.#lineOf(client).waiting.push(waiting);
    this.#size += 1;
    onClose(res, () => this.#leave(waiting));
    if (!hasBody(res.req)) return;
    waiting.giveBack = holdWaiting(res.req, client, this.#bodies, () => {
      this.#leave(waiting);
      refuse(res);
    });
  }

  #lineOf(client: string): Line {
    const known = this.#lines.get(client);
    if (known) return known;
    const line = { client, waiting: [] };
    this.#lines.set(client, line);
    this.#turns.push(line);
    return line;
  }

  /** It waits no longer; does nothing where it did not before. */
  #leave(waiting: Waiting): void {
    const line = this.#lines.get(waiting.client);
    const at = line?.waiting.indexOf(waiting) ?? -1;
    if (line === undefined || at === -1) return;
    line.waiting.splice(at, 1);
    if (line.waiting.length === 0) {
      this.#lines.delete(line.client);
      this.#turns.splice(this.#turns.indexOf(line), 1);
    }
    this.#size -= 1;
    waiting.giveBack?.();
  }

  /**
   * Whether more than so many times what keeps the database busy waits for it. What may go on for as long as it likes does not
   * count: a job or streams that always have hundreds of queries waiting would let no request begin.
   */
  #hasMoreThan(times: number): boolean {
    const { places, ordinaryQueries, ordinaryHeldBackQueries } = this.#database;
    return ordinaryQueries - ordinaryHeldBackQueries > times * Math.max(leastQueries, queriesPerPlace * places);
  }

  #open(): void {
    this.#rate.forget(this.#begun);
    this.#learntAt = Number.POSITIVE_INFINITY;
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#looks) return;
    this.#looks = true;
    setTimeout(this.#beginSome, lookMs);
  }

  readonly #beginSome = () => {
    this.#looks = false;
    let begun = 0;
    while (this.#size > 0 && begun < atOnce && !this.#hasMoreThan(1)) {
      if (this.#learntAt === Number.POSITIVE_INFINITY) this.#beginTurns();
      if (this.#beginNext()) begun += 1;
    }
    if (this.#size > 0) this.#lookLater();
  };

  /** Begins the request whose turn it is. @returns false where it has been answered */
  #beginNext(): boolean {
    const [line] = this.#turns as [Line];
    const [waiting] = line.waiting as [Waiting];
    this.#leave(waiting);
    // The turn of its client comes again after those of all others.
    if (line.waiting.length > 0) this.#turns.push(...this.#turns.splice(0, 1));
    this.#begun += 1;
    const { res, begin, since, own } = waiting;
    if (res.destroyed || res.headersSent) return false;
    noteArrival(res.req, since);
    own.runInAsyncScope(begin, undefined, performance.now() - since);
    return true;
  }

  #beginTurns(): void {
    this.#learntAt = performance.now();
    this.#early.clear();
  }

  #learn(now: number): void {
    this.#rate.learn(this.#begun, now - this.#learntAt, true);
    this.#learntAt = now;
  }
}
