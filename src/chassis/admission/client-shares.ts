import { clientKey, ordinaryCost, type RequestContext } from '../context/request-context.ts';
import type { RequestObserver } from '../context/request-observer.ts';
import { tryAgain } from '../errors/try-again.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';
import type { DatabaseQueue } from './standing-wait.ts';

/** What the recent requests of one client have cost. */
interface Account {
  cost: number;
  /** What those of them have cost of which each cost much. */
  costly: number;
  /** When `cost` was last brought down to what it is, in milliseconds of `performance.now()`. */
  at: number;
}

/** How a client's share of the work compares with the others'. */
export type Standing = 'heavy' | 'even' | 'light';

/** The wait above which clients of each standing are refused, as a multiple of the target. */
export const refusedFrom: Readonly<Record<Standing, number>> = { heavy: 0.5, even: 1, light: 10 };

/** After this time what a client has cost counts half; it is brought down in steps of a hundredth of that. */
const halfLifeMs = 5000;
const stepMs = 50;
/** Clients that are kept at most; some hundred bytes each. */
const mostAccounts = 10_000;
/** When the table is full, the cheapest of this many oldest clients is removed. */
const candidates = 8;
const forgetBelow = 0.5;
const reckonMs = 250;
/** A client is heavy above this multiple of its fair share, if it also makes more than a twentieth of all work. */
const excess = 1.5;
const leastHeavyShare = 0.05;
/**
 * When heavy clients make this share of all work, the others are light; below half, because refused work costs nothing. The
 * same when costly requests make it, whoever sends them.
 */
const heavyTogether = 0.25;
/** A client with a lower share of costly requests in its own work sends ordinary ones. */
const ordinaryBelow = 0.5;
/** A client is small below this part of the mean, in which each client counts with its cost, so that idle ones count little. */
const smallBelow = 0.5;
/** Small clients are light until together they make this share of all work. */
const smallTogether = 0.4;
/** The gate asks for standings at overload alone, so after this time without a question there is none. */
const calmMs = 1000;
/** What clients had of the database tells nothing while it was busy for less than a twentieth of the time, in milliseconds. */
const leastHadMs = 0.05 * (halfLifeMs / Math.LN2);

/**
 * What the work of each client has cost, so that at overload those are refused first who use more than their share. A client
 * is heavy when it has more than half as much again as everyone would have if all had the same, and more than a twentieth of all.
 * While heavy clients make more than a quarter of the work, all others are light. Nobody is heavy alone, or among many
 * equals; but while costly requests make a quarter of the work, those who send others, and less than half of what is heavy, are light.
 *
 * Whether or not anybody is heavy, clients with less than half of the mean are light, and so are new ones, until together they
 * have been let in with two fifths of the work. In a large crowd of equals each asks so seldom that most are such clients
 * whenever they ask; without that bound they would let each other in.
 */
export class ClientShares {
  readonly #leastTotal: number;
  readonly #accounts = new Map<string, Account>();
  #reckonedAt = Number.NEGATIVE_INFINITY;
  #heavyFrom = Number.POSITIVE_INFINITY;
  #othersAreLight = false;
  #newcomersAreLight = false;
  #lightBelow = 0;
  #smallBelow = 0;
  #total = 0;
  /** What small clients and new ones have cost during overload, of `#total`. */
  #small = 0;

  /** @param leastTotal while all work together cost less lately, nobody stands out. Default: 0 */
  constructor(leastTotal = 0) {
    this.#leastTotal = leastTotal;
  }

  /** Clients that are known. */
  get size(): number {
    return this.#accounts.size;
  }

  /**
   * Adds to what a client has cost.
   *
   * @param cost in units of finding one record by an index of a database; negative where less was done than was charged
   */
  charge(client: string, cost: number, now: number): void {
    const account = this.#accounts.get(client) ?? this.#open(client, now);
    const isSmall = decayed(account, now) < this.#smallBelow && now - this.#reckonedAt < calmMs;
    // What is given back may have been charged before the client was small.
    if (isSmall && cost > 0) this.#small += cost;
    account.cost = Math.max(0, account.cost + cost);
    if (cost > ordinaryCost) account.costly += cost;
  }

  /** The standing of a client, as of the last quarter of a second. */
  of(client: string, now: number): Standing {
    if (now - this.#reckonedAt >= reckonMs) this.#reckon(now);
    if (this.#total < this.#leastTotal) return 'even';
    const account = this.#accounts.get(client);
    const smallAreLight = this.#small < this.#total * smallTogether;
    if (account === undefined) return this.#newcomersAreLight || smallAreLight ? 'light' : 'even';
    const cost = decayed(account, now);
    if (cost > this.#heavyFrom) return 'heavy';
    if (this.#othersAreLight || (smallAreLight && cost < this.#smallBelow)) return 'light';
    return cost < this.#lightBelow && account.costly < cost * ordinaryBelow ? 'light' : 'even';
  }

  #open(client: string, now: number): Account {
    if (this.#accounts.size >= mostAccounts) this.#makeRoom();
    const account = { cost: 0, costly: 0, at: now };
    this.#accounts.set(client, account);
    return account;
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
    this.#small *= keptAfter(now - this.#reckonedAt);
    this.#reckonedAt = now;
    let total = 0;
    let squares = 0;
    let costly = 0;
    for (const [client, account] of this.#accounts) {
      const cost = decayed(account, now);
      if (cost < forgetBelow) this.#accounts.delete(client);
      else {
        total += cost;
        squares += cost * cost;
        costly += account.costly;
      }
    }
    const clients = this.#accounts.size;
    this.#total = total;
    this.#smallBelow = total > 0 ? (squares / total) * smallBelow : 0;
    this.#heavyFrom = heavyFrom(total, clients);
    this.#othersAreLight = this.#costAbove(this.#heavyFrom) > total * heavyTogether;
    // A new client counts as well, so that a single other client may be heavy.
    const newcomersAreLight = this.#costAbove(heavyFrom(total, clients + 1)) > total * heavyTogether;
    this.#lightBelow = costly > total * heavyTogether ? this.#heavyFrom / 2 : 0;
    this.#newcomersAreLight = newcomersAreLight || this.#lightBelow > 0;
  }

  #costAbove(limit: number): number {
    let sum = 0;
    for (const { cost } of this.#accounts.values()) if (cost > limit) sum += cost;
    return sum;
  }
}

/**
 * How clients compare both by what they have asked for and by what the database then did for them: an estimate may be wrong by
 * any factor, and what the database had to do says nothing of what the process did. What they have asked for decides, and
 * where it tells nobody apart, what they had. Who asked for little and had most is neither light nor heavy.
 */
export class ClientStandings {
  readonly #asked: Pick<ClientShares, 'of'>;
  /** In milliseconds of the database. */
  readonly #had = new ClientShares(leastHadMs);

  /** @param asked by the estimates */
  constructor(asked: Pick<ClientShares, 'of'>) {
    this.#asked = asked;
  }

  /** Adds to what a client had of the database, in milliseconds. */
  readonly had = (client: string, ms: number): void => {
    this.#had.charge(client, ms, performance.now());
  };

  /** The standing of a client, as of the last quarter of a second. */
  of(client: string, now: number): Standing {
    const asked = this.#asked.of(client, now);
    const had = this.#had.of(client, now);
    if (asked === 'even' || had === asked) return had;
    if (asked === 'heavy') return asked;
    return had === 'heavy' ? 'even' : asked;
  }
}

/**
 * Has each client's account pay for what its requests cost beside being received, and refuses what would wait for slow
 * work of the same caller or, where it is costly itself, for that of others; who asks for less is spared. Clients that use
 * little beside others have their turn before those, so they may wait for longer. Heavy ones are refused no sooner than others:
 * there may be no overload.
 */
export function chargeClients(
  shares: Pick<ClientShares, 'charge'>,
  standings: Pick<ClientStandings, 'of'>,
  database: Pick<DatabaseQueue, 'heldBackMs'> | undefined,
  targetMs: number,
  metrics: Pick<OverloadMetrics, 'shed'>,
): RequestObserver {
  const charge = (cost: number, context: RequestContext) => {
    const now = performance.now();
    const client = clientKey(context.ipAddress);
    shares.charge(client, cost, now);
    // A stream under way is charged as it goes, and not cut; and what is given back is done.
    if (context.isStreaming || cost <= 0) return;
    const waitMs = database?.heldBackMs(context, now) ?? 0;
    if (waitMs <= targetMs) return;
    if (standings.of(client, now) === 'light' && waitMs <= targetMs * refusedFrom.light) return;
    metrics.shed('costly');
    throw tryAgain('Requests that take long are under way; try again in a moment, or ask for less');
  };
  return { opened: (context) => context.onCharge?.(charge) };
}

/** The cost above which a client is heavy, given the number of clients. */
function heavyFrom(total: number, clients: number): number {
  return total * Math.max(excess / Math.max(1, clients), leastHeavyShare);
}

/** What a client has cost as of now; an account is brought up to date by it. */
function decayed(account: Account, now: number): number {
  if (now - account.at < stepMs) return account.cost;
  const kept = keptAfter(now - account.at);
  account.cost *= kept;
  account.costly *= kept;
  account.at = now;
  return account.cost;
}

/** The part of a cost that counts after a time, in milliseconds. */
function keptAfter(passedMs: number): number {
  return 0.5 ** (passedMs / halfLifeMs);
}
