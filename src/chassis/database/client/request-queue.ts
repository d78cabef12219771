import { getRequestContext } from '../../context/request-context.ts';

/** One request, or what runs outside of any, at the database. */
export interface Visitor {
  queries: number;
  served: boolean;
}

/**
 * Counts who waits for the database and whose turn came: requests, each once however many of its queries wait, and queries.
 * They tell how long a request waits in all: as long as it takes to serve those before it.
 */
export class RequestQueue {
  #waiting = 0;
  #served = 0;
  #waitingQueries = 0;
  #servedQueries = 0;
  readonly #visitors = new WeakMap<object, Visitor>();

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

  /** Queries whose turn came, since the start. */
  get servedQueries(): number {
    return this.#servedQueries;
  }

  /** A query of the request under way begins to wait. */
  enter(): Visitor {
    const visitor = this.#visitor();
    visitor.queries += 1;
    this.#waitingQueries += 1;
    if (visitor.queries === 1) this.#waiting += 1;
    return visitor;
  }

  /** It waits no longer: its turn came, or not. */
  leave(visitor: Visitor, served: boolean): void {
    if (served && !visitor.served) this.#served += 1;
    visitor.served ||= served;
    visitor.queries -= 1;
    this.#waitingQueries -= 1;
    if (served) this.#servedQueries += 1;
    if (visitor.queries === 0) this.#waiting -= 1;
  }

  /** Waits with what gives a query its turn. */
  async wait<T>(turn: Promise<T>): Promise<T> {
    const visitor = this.enter();
    let served = false;
    try {
      const result = await turn;
      served = true;
      return result;
    } finally {
      this.leave(visitor, served);
    }
  }

  #visitor(): Visitor {
    const request = getRequestContext();
    const known = request && this.#visitors.get(request);
    if (known) return known;
    const visitor = { queries: 0, served: false };
    if (request) this.#visitors.set(request, visitor);
    return visitor;
  }
}
