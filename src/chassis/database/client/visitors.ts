import { callerKey, clientKey, type RequestContext, serviceKey } from '../../context/request-context.ts';

/** One request, or what runs outside of any, at the database. */
interface Visitor {
  queries: number;
  served: boolean;
  /** Whether it has had a place for a write or a unit of work. */
  hasWritten: boolean;
  /** How many of its queries count as ordinary. */
  ordinary: number;
}

/** An ordinary request asks no more than this at once: for records, and for what belongs to them. */
const ordinaryAtOnce = 2;

/** Who asked for a place within this time is there, in milliseconds. */
export const presentMs = 5000;

/** Which clients are there: the latest, and whether another one came lately. */
export class PresentClients<Client> {
  #latest: Client | undefined;
  #latestAt = Number.NEGATIVE_INFINITY;
  #otherAt = Number.NEGATIVE_INFINITY;

  /** A client asks. */
  see(client: Client, now: number): void {
    if (client !== this.#latest) this.#otherAt = this.#latestAt;
    this.#latest = client;
    this.#latestAt = now;
  }

  /** Whether any other client is there. */
  hasOthers(client: Client, now: number): boolean {
    return now - (client === this.#latest ? this.#otherAt : this.#latestAt) < presentMs;
  }
}

/** Counts who waits for a database and whose turn came: requests, each once however many of its queries wait, and queries. */
export class Visitors {
  /** Requests that wait now. */
  waiting = 0;
  /** Requests whose turn came, since the start. */
  served = 0;
  /** Queries that wait now. */
  waitingQueries = 0;
  /** Those of requests, at most two of each, and none of a stream or of work outside of requests, which may never end. */
  ordinaryQueries = 0;
  /** Queries whose turn came, since the start. */
  servedQueries = 0;
  /** Where a context has its visitor. A WeakMap makes room for new ones before the collector has removed the old. */
  readonly #key = Symbol('visitor');

  /** A query waits. @returns what to end it with */
  begin(context: RequestContext | undefined): Visitor {
    const visitor = this.#of(context);
    visitor.queries += 1;
    this.waitingQueries += 1;
    if (visitor.queries === 1) this.waiting += 1;
    this.#countOrdinary(visitor, context);
    return visitor;
  }

  /** It waits no longer: its turn came, or not. */
  end(visitor: Visitor, served: boolean, context: RequestContext | undefined): void {
    if (served && !visitor.served) this.served += 1;
    visitor.served ||= served;
    visitor.queries -= 1;
    this.waitingQueries -= 1;
    if (served) this.servedQueries += 1;
    if (visitor.queries === 0) this.waiting -= 1;
    this.#countOrdinary(visitor, context);
  }

  /** Whether a request has had a turn. */
  wasServed(context: RequestContext): boolean {
    return this.#of(context).served;
  }

  /** Whether a request has had a place for a write or a unit of work. */
  hasWritten(context: RequestContext): boolean {
    return this.#of(context).hasWritten;
  }

  #countOrdinary(visitor: Visitor, context: RequestContext | undefined): void {
    const ends = context !== undefined && !context.isStreaming;
    const count = ends ? Math.min(visitor.queries, ordinaryAtOnce) : 0;
    this.ordinaryQueries += count - visitor.ordinary;
    visitor.ordinary = count;
  }

  #of(context: RequestContext | undefined): Visitor {
    const visiting = (context ?? {}) as { [key: symbol]: Visitor };
    visiting[this.#key] ??= { queries: 0, served: false, hasWritten: false, ordinary: 0 };
    return visiting[this.#key] as Visitor;
  }
}

const streams = 'streams of ';

/** What all streams of a client are counted under. */
export function streamsOf(client: string): string {
  return streams + client;
}

/**
 * What the work of a request at the database is counted under: its caller or, while it streams, its address. Streams are
 * many and long, and whoever opens them may have many accounts, of which each would have a share of its own.
 */
export function workKey(context: RequestContext | undefined): string {
  return context?.isStreaming ? streamsOf(clientKey(context.ipAddress)) : callerKey(context);
}

/** Where the work of a request comes from, with all that comes from there. */
export function addressKey(context: RequestContext | undefined): string {
  return context === undefined || context.isStreaming ? workKey(context) : clientKey(context.ipAddress);
}

/** Whether work counted under a key ends once it had its turns: that of requests, and neither streams nor the service's own. */
export function isOrdinary(key: string): boolean {
  return key !== serviceKey && !key.startsWith(streams);
}
