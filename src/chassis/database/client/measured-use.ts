import type { Taker } from '../../context/shared-run.ts';

/** Who takes a place. */
export interface PlaceTaker extends Taker<Place> {
  /** Whether it waits for as long as it takes. By default it does not. */
  readonly isPatient?: boolean;
  /** Asked when the turn comes after a wait: whether the work waits elsewhere from now on. By default it does not. */
  movesOn?(): boolean;
  /**
   * How far behind others its turn is, in milliseconds, beside what its address used. It is asked each time, because what is known
   * of it may change while it waits. Default 0.
   */
  behindMs?(): number;
}

/** Work that waits for a place. */
export interface WaitingWork {
  readonly since: number;
  readonly taker: PlaceTaker;
  readonly isUnderWay: boolean;
  /** Where its client asked from, which may have asked from elsewhere since; undefined where it counts with another. */
  readonly countedAt: AddressUse | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** A client whose weighted mean time exceeds this is slow. */
const slowMs = 50;
const halfLifeMs = 5000;

/** No turn goes to a request under way whose address used so much more than that of who waits, in milliseconds. */
const mostAheadMs = 100;

/** What the clients of one address have used of a database together. */
interface AddressUse {
  /** How long they had places, in milliseconds, on a scale that all addresses share. */
  used: number;
  /** How much of their work waits that counts with them. */
  waiting: number;
  /** What they had of it lately, as their part of the time, in milliseconds; it counts half after five seconds. */
  hadMs: number;
  /** When `hadMs` was last brought down to what it is. */
  at: number;
}

/** What one client uses of a database, has used of it, and waits for. */
export class ClientUse {
  /** Whether its work ends once it had its turns, as that of a request does. */
  readonly isOrdinary: boolean;
  /** Places that it has now, without those beside. */
  running = 0;
  /**
   * Those of requests under way, then the others, in the order in which they came. Tables of a Set lead each to the next, so
   * the collector would keep all that ever waited.
   */
  readonly waiting: WaitingWork[] = [];
  /** How many of them are of requests under way. */
  underWay = 0;
  /** How many of them are counted with this client, and not with another. */
  counted = 0;
  /** How long it had places, in milliseconds, on a scale that all clients share. */
  used = 0;
  /** The same of all clients of the address that it asked from last. */
  address: AddressUse = newAddress();
  #ended = 0;
  #took = 0;
  #squares = 0;
  #at = 0;

  constructor(isOrdinary: boolean) {
    this.isOrdinary = isOrdinary;
  }

  /**
   * Whether its recent work is short: the mean time, each weighted by itself, so that many short ones do not hide a long
   * one. A client whose first work is under way is slow.
   */
  get isQuick(): boolean {
    return this.#squares < slowMs * this.#took;
  }

  /** How long its recent work took, in milliseconds; 0 while none has ended. */
  get meanMs(): number {
    return this.#ended === 0 ? 0 : this.#took / this.#ended;
  }

  /** Since when the work waits that has waited for longest. */
  get waitingSince(): number {
    const [first, other] = [this.waiting[0], this.waiting[this.underWay]];
    return Math.min(first?.since ?? Number.POSITIVE_INFINITY, other?.since ?? Number.POSITIVE_INFINITY);
  }

  /** Whether any of its work has ended, so that its time is known. */
  get isMeasured(): boolean {
    return this.#took > 0;
  }

  /** Whether its turn comes first: it used less, what it is to be behind included. Of an address it is what all its clients used. */
  isBefore(other: ClientUse): boolean {
    const aheadMs = this.#behindMs - other.#behindMs;
    if (this.address === other.address) return this.used + aheadMs < other.used;
    return this.address.used + aheadMs < other.address.used;
  }

  /** Whether its turn comes before that of work which comes now from an address, and is so far behind, in milliseconds. */
  goesBefore(address: AddressUse, behindMs: number): boolean {
    return this.address.used + this.#behindMs <= address.used + behindMs;
  }

  /** Whether its turn comes before that of a request under way, because that one's address has used so much more. */
  isOwed(underWay: ClientUse): boolean {
    return this.address.used + mostAheadMs < underWay.address.used;
  }

  get #behindMs(): number {
    return this.waiting[0]?.taker.behindMs?.() ?? 0;
  }

  /** Counts work that has ended. */
  ended(tookMs: number, address: AddressUse, now: number): void {
    const kept = keptAfter(now - this.#at);
    this.used += tookMs;
    address.used += tookMs;
    this.#ended = this.#ended * kept + 1;
    this.#took = this.#took * kept + tookMs;
    this.#squares = this.#squares * kept + tookMs * tookMs;
    this.#at = now;
  }
}

/** Addresses to which one that comes is compared at most, so that a crowd costs little; turns of further ones do not count. */
const mostCompared = 64;

/** Addresses that are known at most. */
export const mostAddresses = 10_000;
/** Use of a database while nobody else was there delays who had it by this at most, in milliseconds. */
const mostLeadMs = 1000;

/** How many cores a database has is not known; it is taken to run this many statements side by side as fast as one alone. */
const leastCores = 2;

/** What the clients of each address have used of a database. */
export class AddressUses {
  readonly #addresses = new Map<string, AddressUse>();
  #used = 0;
  /** Those whose clients wait with work that counts with them, and how much that is. */
  #waitingAddresses = 0;
  #waiting = 0;

  /**
   * Turns before that of work which does not wait yet: one of each address, for each of its own that waits and for itself, and
   * no more than wait.
   */
  turnsBefore(key: string): number {
    const own = this.#addresses.get(key)?.waiting ?? 0;
    return Math.min(this.#waiting, this.#waitingAddresses * (own + 1));
  }

  /** The same, of those whose clients wait and go before work that is so far behind others, in milliseconds. */
  turnsAhead(waiting: Iterable<ClientUse>, key: string, behindMs: number): number {
    const own = this.of(key);
    const seen = new Set([own]);
    let turns = own.waiting;
    for (const client of waiting) {
      const { address } = client;
      if (!seen.has(address) && client.goesBefore(own, behindMs)) turns += Math.min(address.waiting, own.waiting + 1);
      if (seen.add(address).size > mostCompared) break;
    }
    return turns;
  }

  /**
   * Counts what the clients of an address had of the database with a statement that was one of so many.
   *
   * @returns that, in milliseconds
   */
  had(address: AddressUse, tookMs: number, running: number, now: number): number {
    const hadMs = tookMs / Math.max(1, running / leastCores);
    address.hadMs = address.hadMs * keptAfter(now - address.at) + hadMs;
    address.at = now;
    return hadMs;
  }

  /** What the clients of an address had of the database lately, in milliseconds, the latest most. */
  hadLately(key: string, now: number): number {
    const address = this.#addresses.get(key);
    return address === undefined ? 0 : address.hadMs * keptAfter(now - address.at);
  }

  /** Work begins to wait that counts with a client of this address. */
  waits(address: AddressUse): void {
    if (address.waiting++ === 0) this.#waitingAddresses += 1;
    this.#waiting += 1;
  }

  /** It waits no longer. */
  waitsNoLonger(address: AddressUse): void {
    if (--address.waiting === 0) this.#waitingAddresses -= 1;
    this.#waiting -= 1;
  }

  /** What the clients of an address have used, one of which asks now. */
  of(key: string): AddressUse {
    const address = this.#addresses.get(key) ?? this.#open(key);
    address.used = withinLead(address.used, this.#used);
    return address;
  }

  /** The turn of an address came that others waited for too. */
  began({ used }: AddressUse): void {
    this.#used = Math.max(this.#used, used);
  }

  #open(key: string): AddressUse {
    if (this.#addresses.size >= mostAddresses) this.#forget();
    const address = newAddress();
    this.#addresses.set(key, address);
    return address;
  }

  /** One that has used no more than a new one is as good as new. */
  #forget(): void {
    for (const [key, { used, waiting }] of this.#addresses)
      if (waiting === 0 && used <= this.#used) this.#addresses.delete(key);
    if (this.#addresses.size >= mostAddresses) this.#addresses.clear();
  }
}

function newAddress(): AddressUse {
  return { used: 0, waiting: 0, hadMs: 0, at: 0 };
}

/** The part that counts of what was a time ago, in milliseconds. */
export function keptAfter(passedMs: number): number {
  return 0.5 ** (passedMs / halfLifeMs);
}

/** What counts as used where somebody asks for work: nobody saves up turns, or pays for long for those that nobody else wanted. */
export function withinLead(used: number, usedByAll: number): number {
  return Math.min(Math.max(used, usedByAll), usedByAll + mostLeadMs);
}

/** A place of a database, which a client has until it gives it back. */
export interface Place {
  readonly client: ClientUse;
  /** Where its client asked from, which may ask from elsewhere meanwhile. */
  readonly address: AddressUse;
  readonly since: number;
  /** How many places were lent when it was, this one among them. */
  readonly among: number;
  /** Whether it is served beside the others, where those are served one by one. */
  readonly isBeside: boolean;
}
