import { serviceKey } from '../../context/request-context.ts';
import { AddressUses, ClientUse, type Place, type PlaceTaker, type WaitingWork, withinLead } from './measured-use.ts';
import { isOrdinary, PresentClients } from './visitors.ts';

/** How a queue lends its places. */
export interface FairQueueOptions {
  /** Places that there are now; it is read each time. */
  places: number;
  /** Places that a client with slow work may have while others are there. */
  placesOfSlow: number;
  /** Whether the places are served one after the other, so that a time in a place is in part waiting. Default false. */
  serial?: boolean;
  /** How long work may wait, in milliseconds; without an end by default. */
  timeoutMs?: number | undefined;
  /** What it fails with then. Default: the words of pg's pool for a connection that did not become free. */
  late?: () => Error;
}

/** The next client is the one that used least among this many that have waited longest, those with requests under way first. */
const candidates = 256;
const mostClients = 10_000;
/** Places that go to requests under way in a row; the next goes to the client that used least, whatever it waits with. */
const mostUnderWay = 3;

/**
 * Lends the places of a database, such as connections, so that no client keeps it from the others: the next place goes to a request
 * that has had one, because others that begin beside it hold more and more until the first is answered. While no such request
 * waits, after three such places in a row, because requests of many turns would keep out all who begin, and where somebody waits
 * whose address used much less, it goes to the client that had places for the least time, as measured, of the address whose clients
 * together had them for the least: somebody with many accounts has one turn for each turn of somebody else, and not one with each.
 * A client whose work is slow has only a part of all places while others are there. A client that is there alone, or whose work is
 * quick, may have all of them.
 */
export class FairQueue {
  /** Places that are lent now, without those beside. */
  running = 0;
  readonly #options: FairQueueOptions;
  readonly #clients = new Map<string, ClientUse>();
  readonly #addresses = new AddressUses();
  /** Those that wait, the one that had no place for longest first. */
  readonly #queue = new Set<ClientUse>();
  /** Those of them that wait with work of a request under way. */
  readonly #underWay = new Set<ClientUse>();
  /** Those of them that have as many places as a client with slow work may have. */
  readonly #heldBack = new Set<ClientUse>();
  #used = 0;
  #underWayInRow = 0;
  #endedAt = 0;
  readonly #present = new PresentClients<ClientUse>();

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /**
   * How long work waits for its turn that comes from an address now, in milliseconds. Where many wait, those that have waited
   * longest stand for all.
   */
  clientMs(address: string): number {
    let turnsMs = 0;
    let seen = 0;
    for (const { meanMs } of this.#queue) {
      turnsMs += meanMs;
      if (++seen === candidates) break;
    }
    return seen === 0 ? 0 : ((turnsMs / seen) * this.turnsBefore(address)) / this.#options.places;
  }

  get places(): number {
    return this.#options.places;
  }

  /** Whether work waits for a place, that which is held back included. */
  get isAwaited(): boolean {
    return this.#queue.size > 0;
  }

  /** Turns before that of work which comes from an address now: of all who wait, or of those who go before work so far behind. */
  turnsBefore(address: string, behindMs?: number): number {
    if (behindMs === undefined) return this.#addresses.turnsBefore(address);
    return this.#addresses.turnsAhead(this.#queue, address, behindMs);
  }

  /** What waits for other work of its own client. */
  get heldBack(): number {
    let count = 0;
    for (const { counted } of this.#heldBack) count += counted;
    return count;
  }

  /** The same without streams and work outside of requests. */
  get ordinaryHeldBack(): number {
    let count = 0;
    for (const { counted, isOrdinary: counts } of this.#heldBack) if (counts) count += counted;
    return count;
  }

  /**
   * How long work of a client has waited for other work of this client, in milliseconds; 0 if none does. It is 0 too while
   * the client's first work is under way, which may itself wait for a slow statement of another client.
   */
  heldBackMs(key: string, now: number): number {
    const client = this.#clients.get(key);
    if (!client?.isMeasured || !this.#heldBack.has(client)) return 0;
    return Math.max(0, now - client.waitingSince);
  }

  /** What an address had of the places lately, in milliseconds, the latest most. */
  hadLately(address: string, now: number): number {
    return this.#addresses.hadLately(address, now);
  }

  /**
   * Asks for a place for a client.
   *
   * @param isUnderWay whether it is for a request that has had a place: what it holds in memory waits for its end, so it goes first
   * @param address where the client asks from; one of its own by default
   * @returns what gives the turn up while it waits; undefined where it came at once
   */
  take(key: string, taker: PlaceTaker, isUnderWay = false, address = key): (() => void) | undefined {
    const place = this.takeFree(key, address);
    return place ? void taker.lent(place) : this.#wait(this.#clientOf(key), taker, isUnderWay, performance.now());
  }

  /** Gives a client a place if there is one for it now; otherwise it has none, and does not wait. */
  takeFree(key: string, address = key): Place | undefined {
    const now = performance.now();
    const client = this.#comes(key, address, now);
    const free = this.running < this.#options.places && client.waiting.length === 0;
    return free && !this.#isHeldBack(client, now) ? this.#lend(client, now) : undefined;
  }

  /** Gives a client a place beside those that are served one by one. How many of these there are is for the caller to bound. */
  takeBeside(key: string, address: string): Place {
    const now = performance.now();
    return this.#lend(this.#comes(key, address, now), now, true);
  }

  /**
   * Takes a place back, and lends it to who is next.
   *
   * @param count hears before what the work had of the database, as its part of the time, in milliseconds
   * @param part of the time that counts as what its address had
   */
  giveBack({ client, address, since, among, isBeside }: Place, count?: (hadMs: number) => void, part = 1): void {
    const now = performance.now();
    const isSerial = this.#options.serial && !isBeside;
    const tookMs = now - (isSerial ? Math.max(since, this.#endedAt) : since);
    const running = this.#options.serial ? 1 : Math.max(among, this.running);
    client.ended(tookMs, address, now);
    const hadMs = this.#addresses.had(address, tookMs * part, running, now);
    count?.(hadMs);
    if (!isBeside) {
      client.running -= 1;
      this.running -= 1;
    }
    if (isSerial) this.#endedAt = now;
    this.lendFree(now);
    this.#judge(client, now);
  }

  /** Lends the places that are free, of which there may be more than before, to those that wait. */
  lendFree(now = performance.now()): void {
    for (let next = this.#next(now); next !== undefined; next = this.#next(now)) this.#startFirst(next, now);
  }

  /** A client asks, from an address. */
  #comes(key: string, address: string, now: number): ClientUse {
    const client = this.#clientOf(key);
    // Beside the service's own work, such as a health check, a client is alone.
    if (key !== serviceKey) this.#present.see(client, now);
    client.used = withinLead(client.used, this.#used);
    client.address = this.#addresses.of(address);
    return client;
  }

  #lend(client: ClientUse, now: number, isBeside = false): Place {
    if (!isBeside) {
      this.running += 1;
      client.running += 1;
    }
    this.#judge(client, now);
    return { client, address: client.address, since: now, among: this.running, isBeside };
  }

  #wait(client: ClientUse, taker: PlaceTaker, isUnderWay: boolean, now: number): () => void {
    const { timeoutMs, late = noConnection } = this.#options;
    const countedAt = taker.isJoined ? undefined : client.address;
    const waiting: WaitingWork = { since: now, taker, isUnderWay, countedAt, timer: undefined };
    const leave = () => this.#leave(client, waiting);
    if (timeoutMs !== undefined && !taker.isPatient) {
      waiting.timer = setTimeout(() => {
        leave();
        taker.late(late());
      }, timeoutMs);
    }
    if (isUnderWay) {
      client.waiting.splice(client.underWay, 0, waiting);
      client.underWay += 1;
      this.#underWay.add(client);
    } else client.waiting.push(waiting);
    if (countedAt) {
      client.counted += 1;
      this.#addresses.waits(countedAt);
    }
    this.#queue.add(client);
    this.#judge(client, now);
    return leave;
  }

  #leave(client: ClientUse, waiting: WaitingWork): void {
    clearTimeout(waiting.timer);
    const at = client.waiting.indexOf(waiting);
    if (at !== -1) {
      client.waiting.splice(at, 1);
      if (waiting.isUnderWay && --client.underWay === 0) this.#underWay.delete(client);
    }
    if (waiting.countedAt) {
      client.counted -= 1;
      this.#addresses.waitsNoLonger(waiting.countedAt);
    }
    if (client.waiting.length === 0) this.#queue.delete(client);
    this.#judge(client, performance.now());
  }

  #next(now: number): ClientUse | undefined {
    if (this.running >= this.#options.places) return undefined;
    const underWay = this.#leastOf(this.#underWay, now);
    const least = this.#leastOf(this.#queue, now);
    const goesFirst = underWay !== undefined && this.#underWayInRow < mostUnderWay && !least?.isOwed(underWay);
    this.#underWayInRow = goesFirst ? this.#underWayInRow + 1 : 0;
    return goesFirst ? underWay : (least ?? underWay);
  }

  /** Of those that have waited longest, the one that has used least of the address that has. */
  #leastOf(clients: ReadonlySet<ClientUse>, now: number): ClientUse | undefined {
    let next: ClientUse | undefined;
    let seen = 0;
    for (const client of clients) {
      if (!this.#isHeldBack(client, now) && (next === undefined || client.isBefore(next))) next = client;
      if (++seen === candidates) break;
    }
    return next;
  }

  #startFirst(client: ClientUse, now: number): void {
    const [first] = client.waiting;
    if (first === undefined) return;
    this.#used = Math.max(this.#used, client.used);
    this.#addresses.began(client.address);
    // It goes to the end of the queue.
    this.#queue.delete(client);
    this.#leave(client, first);
    if (client.waiting.length > 0) this.#queue.add(client);
    if (!first.taker.movesOn?.()) first.taker.lent(this.#lend(client, now));
  }

  #judge(client: ClientUse, now: number): void {
    if (client.waiting.length > 0 && this.#isHeldBack(client, now)) this.#heldBack.add(client);
    else this.#heldBack.delete(client);
  }

  #isHeldBack(client: ClientUse, now: number): boolean {
    return client.running >= this.#options.placesOfSlow && !client.isQuick && this.#present.hasOthers(client, now);
  }

  #clientOf(key: string): ClientUse {
    const known = this.#clients.get(key);
    if (known) return known;
    if (this.#clients.size >= mostClients) this.#forgetOne();
    const client = new ClientUse(isOrdinary(key));
    this.#clients.set(key, client);
    return client;
  }

  #forgetOne(): void {
    for (const [key, { running, waiting }] of this.#clients) {
      if (running === 0 && waiting.length === 0) return void this.#clients.delete(key);
    }
  }
}

function noConnection(): Error {
  return new Error('timeout exceeded when trying to connect');
}
