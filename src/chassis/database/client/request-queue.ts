import {
  callerKey,
  clientKey,
  costlyFrom,
  getRequestContext,
  type RequestContext,
} from '../../context/request-context.ts';
import { type CostlyPlace, CostlyWork } from './costly-work.ts';
import { FairQueue, type FairQueueOptions, type Place } from './fair-queue.ts';

/** One request, or what runs outside of any, at the database. */
interface Visitor {
  queries: number;
  served: boolean;
}

/** How a queue lends its places, and how many of them costly work may have. */
interface RequestQueueOptions extends FairQueueOptions {
  /** Places that costly requests may have together while others are there; always where places are served one by one. */
  placesOfCostly: number;
}

/**
 * Lends the places of a database to requests, fairly, and counts who waits and whose turn came: requests, each once however
 * many of its queries wait, and queries. They tell how long a request waits in all: as long as it takes to serve those
 * before it.
 */
export class RequestQueue {
  #waiting = 0;
  #served = 0;
  #waitingQueries = 0;
  #servedQueries = 0;
  readonly #places: FairQueue;
  readonly #costly: CostlyWork;
  readonly #visitors = new WeakMap<object, Visitor>();

  constructor(options: RequestQueueOptions) {
    const { placesOfCostly, serial = false, timeoutMs } = options;
    this.#places = new FairQueue(options);
    this.#costly = new CostlyWork({ places: placesOfCostly, always: serial, timeoutMs });
  }

  /** Requests that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Requests whose turn came, since the start. */
  get served(): number {
    return this.#served;
  }

  /** Queries that wait now, of all requests. */
  get waitingQueries(): number {
    return this.#waitingQueries;
  }

  /** Queries among them that wait for others of their own client, or for other costly ones, and keep nobody else waiting. */
  get heldBackQueries(): number {
    return this.#places.heldBack + this.#costly.waiting;
  }

  /** Queries whose turn came, since the start. */
  get servedQueries(): number {
    return this.#servedQueries;
  }

  /**
   * How long queries of a request wait for others, in milliseconds, of its own caller or, where it is costly, for other
   * costly ones.
   */
  heldBackMs(context: RequestContext, now: number): number {
    const caller = callerKey(context);
    const ownMs = this.#places.heldBackMs(caller, now);
    if (!isCostly(context)) return ownMs;
    return Math.max(ownMs, this.#costly.heldBackMs(caller, now), this.#costly.newcomerMs());
  }

  /** How long a query waits for its turn whose client has no other there, in milliseconds. */
  newcomerMs(): number {
    return this.#places.newcomerMs();
  }

  /**
   * Waits for a place for the request under way, then for what opens it.
   *
   * @param open its failure gives the place back
   * @returns what was opened, and what gives the place back
   */
  async enter<T>(open: () => Promise<T>): Promise<{ opened: T; leave: () => void }> {
    const context = getRequestContext();
    const key = workKey(context);
    const visitor = this.#begin(context);
    let costly: CostlyPlace | undefined;
    let served = false;
    try {
      if (isCostly(context)) costly = await this.#costly.take(key);
      else if (context !== undefined) this.#costly.sawOther();
      const turn = this.#places.take(key);
      const place = turn instanceof Promise ? await turn : turn;
      const opened = await this.#openIn(place, open);
      served = true;
      return { opened, leave: () => this.#leave(place, costly) };
    } finally {
      if (!served && costly) this.#costly.giveBack(costly);
      this.#end(visitor, served);
    }
  }

  #leave(place: Place, costly: CostlyPlace | undefined): void {
    this.#places.giveBack(place);
    if (costly) this.#costly.giveBack(costly);
  }

  async #openIn<T>(place: Place, open: () => Promise<T>): Promise<T> {
    try {
      return await open();
    } catch (error) {
      this.#places.giveBack(place);
      throw error;
    }
  }

  /** Waits for a place and has it while `work` runs; that is waiting too, where places are served one after the other. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { opened, leave } = await this.enter(work);
    leave();
    return opened;
  }

  #begin(context: object | undefined): Visitor {
    const visitor = this.#visitor(context);
    visitor.queries += 1;
    this.#waitingQueries += 1;
    if (visitor.queries === 1) this.#waiting += 1;
    return visitor;
  }

  /** It waits no longer: its turn came, or not. */
  #end(visitor: Visitor, served: boolean): void {
    if (served && !visitor.served) this.#served += 1;
    visitor.served ||= served;
    visitor.queries -= 1;
    this.#waitingQueries -= 1;
    if (served) this.#servedQueries += 1;
    if (visitor.queries === 0) this.#waiting -= 1;
  }

  #visitor(context: object | undefined): Visitor {
    const known = context && this.#visitors.get(context);
    if (known) return known;
    const visitor = { queries: 0, served: false };
    if (context) this.#visitors.set(context, visitor);
    return visitor;
  }
}

/**
 * What the work of a request at the database is counted under: its caller or, while it streams, its address. Streams are
 * many and long, and whoever opens them may have many accounts, of which each would have a share of its own.
 */
function workKey(context: RequestContext | undefined): string {
  return context?.isStreaming ? `streams of ${clientKey(context.ipAddress)}` : callerKey(context);
}

function isCostly(context: RequestContext | undefined): boolean {
  return context?.cost !== undefined && context.cost > costlyFrom;
}
