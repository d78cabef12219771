/** What the recent requests of one client have cost. */
interface Account {
  cost: number;
  /** When `cost` was last brought down to what it is, in milliseconds of `performance.now()`. */
  at: number;
}

/** How a client's share of the work compares with the others'. */
export type Standing = 'heavy' | 'even' | 'light';

/** After this time what a client has cost counts half. */
const halfLifeMs = 5000;
/** Clients that are kept at most; some hundred bytes each. */
const mostAccounts = 10_000;
/** When the table is full, the cheapest of this many oldest clients is removed. */
const candidates = 8;
const forgetBelow = 0.5;
const reckonMs = 250;
/** A client is heavy above this multiple of its fair share, if it also makes more than a tenth of all work. */
const excess = 1.5;
const leastHeavyShare = 0.1;
/** When heavy clients make this share of all work, the others are light; below half, because refused work costs nothing. */
const heavyTogether = 0.25;

/**
 * What the work of each client has cost, so that at overload those are refused first who use more than their share. A client
 * is heavy when it has more than half as much again as everyone would have if all had the same, and more than a tenth of all.
 * While heavy clients make more than a quarter of the work, all others are light. Nobody is heavy alone, or among many equals.
 */
export class ClientShares {
  readonly #accounts = new Map<string, Account>();
  #reckonedAt = Number.NEGATIVE_INFINITY;
  #heavyFrom = Number.POSITIVE_INFINITY;
  #othersAreLight = false;
  #newcomersAreLight = false;

  /** Clients that are known. */
  get size(): number {
    return this.#accounts.size;
  }

  /**
   * Adds to what a client has cost.
   *
   * @param cost in units of finding one record by an index; a request that asks no more of a database is one
   */
  charge(client: string, cost: number, now: number): void {
    const account = this.#accounts.get(client);
    if (account === undefined) this.#open(client, cost, now);
    else account.cost = decayed(account, now) + cost;
  }

  /** The standing of a client, as of the last quarter of a second. */
  of(client: string, now: number): Standing {
    if (now - this.#reckonedAt >= reckonMs) this.#reckon(now);
    const account = this.#accounts.get(client);
    if (account === undefined) return this.#newcomersAreLight ? 'light' : 'even';
    if (decayed(account, now) > this.#heavyFrom) return 'heavy';
    return this.#othersAreLight ? 'light' : 'even';
  }

  #open(client: string, cost: number, now: number): void {
    if (this.#accounts.size >= mostAccounts) this.#makeRoom();
    this.#accounts.set(client, { cost, at: now });
  }

  #makeRoom(): void {
    let least: [client: string, account: Account] | undefined;
    let seen = 0;
    for (const entry of this.#accounts) {
      if (least === undefined || entry[1].cost < least[1].cost) least = entry;
      seen += 1;
      if (seen === candidates) break;
    }
    if (least !== undefined) this.#accounts.delete(least[0]);
  }

  #reckon(now: number): void {
    this.#reckonedAt = now;
    let total = 0;
    for (const [client, account] of this.#accounts) {
      const cost = decayed(account, now);
      if (cost < forgetBelow) this.#accounts.delete(client);
      else total += cost;
    }
    const clients = this.#accounts.size;
    this.#heavyFrom = heavyFrom(total, clients);
    this.#othersAreLight = this.#costAbove(this.#heavyFrom) > total * heavyTogether;
    // A new client counts as well, so that a single other client may be heavy.
    this.#newcomersAreLight = this.#costAbove(heavyFrom(total, clients + 1)) > total * heavyTogether;
  }

  #costAbove(limit: number): number {
    let sum = 0;
    for (const { cost } of this.#accounts.values()) if (cost > limit) sum += cost;
    return sum;
  }
}

/** The cost above which a client is heavy, given the number of clients. */
function heavyFrom(total: number, clients: number): number {
  return total * Math.max(excess / Math.max(1, clients), leastHeavyShare);
}

/** What a client has cost as of now; an account is brought up to date by it. */
function decayed(account: Account, now: number): number {
  account.cost *= 0.5 ** ((now - account.at) / halfLifeMs);
  account.at = now;
  return account.cost;
}
