import { clientKey, isCostly, type RequestContext } from '../../context/request-context.ts';
import type { Taker } from '../../context/shared-run.ts';
import { isRead, type Moment, unitOfWorkPlace } from './costly-work.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import type { Place } from './measured-use.ts';
import { addressKey, isOrdinary, streamsOf, workKey } from './visitors.ts';

/** Places that what is of no other kind has at least: searches are, and right after a start all lists, as nothing is known of them. */
const leastOfOthers = 2;
/** Places of long answers, of those with room for the records of their answers, and of streams, beside those of the others. */
const mostOfKind = 2;
/**
 * Where places are served one by one: the pause behind a unit of work that took longer than this, in milliseconds. An ordinary request
 * asks several times, one after the other, and each time would wait for another that began in between.
 */
const restMs = 50;
/** Where places are served one by one: reads that are served beside them. */
export const readersBeside = 2;
/**
 * Who had less of the places for reads lately, in milliseconds, goes on having all of them: an ordinary list of 30 ms each second
 * comes to half of that, and must not wait with those who keep everybody waiting.
 */
const muchReadMs = 500;
/** Who had more of the database lately, in milliseconds, is no further behind: many users may have one address. */
const mostBehindMs = 1000;
/** What the latest work counts of the mean time. */
const weightOfLatest = 0.2;

/** Places that one kind of costly requests has. */
class PlacesOfKind {
  readonly queue: FairQueue;
  readonly #rests: boolean;
  #meanMs = 0;

  /** @param rests whether there is a pause behind each that took long */
  constructor(options: FairQueueOptions, rests: boolean) {
    this.queue = new FairQueue(options);
    this.#rests = rests;
  }

  /** How long a request of an address waits for those that wait already and go before it, and has its turn; 0 where none do. */
  clientMs(address: string, behindMs: number): number {
    const turns = this.queue.turnsBefore(address, behindMs);
    // There may be none now, because others have those that this kind shares with theirs.
    return turns === 0 ? 0 : ((turns + 1) * this.#meanMs) / Math.max(1, this.queue.places);
  }

  /**
   * Has ended work give its place back, at once or after the pause.
   *
   * @param since when it had its place here, by `performance.now()`
   * @param ranSince when it had one of the database
   */
  ended(since: number, ranSince: number, leave: () => void): void {
    const now = performance.now();
    this.#meanMs += (now - since - this.#meanMs) * weightOfLatest;
    if (this.#rests && now - ranSince > restMs) setTimeout(leave, restMs).unref();
    else leave();
  }
}

/** Gives a place back, and tells whether the work that has it is served beside the others, where those are served one by one. */
export interface Leave {
  /**
   * @param asked when the database was asked, or null where it was not; by default when the place was lent
   * @returns the part of the time in the place for which its answer had not come for sure
   */
  (asked?: Moment | null): number;
  readonly isBeside?: boolean;
}

/** Who asks for a place for costly work. */
interface Asking {
  context: RequestContext | undefined;
  /** The read, or `unitOfWorkPlace`; undefined for a write. */
  statement: string | undefined;
  /** How long that will have the place by what is known of it when this is asked, in milliseconds. */
  expectedMs(): number;
  isUnderWay: boolean;
  /** What gives a place of the database back that was lent now. */
  leaving: (place: Place) => Leave;
}

/**
 * The places that costly requests wait for before they wait with all others: as many as a client with slow work has, all clients
 * together, because many that ask for one costly list each are none with slow work. Within that part they are lent fairly too,
 * and who had less of the database lately goes first. Where no others are there, they have all but that many, so that who comes
 * next finds a place free.
 *
 * All kinds together have no more, but units of work, which keep a place while the process is busy, may have all of them at any
 * time, and each of the other kinds has one at least. Those are streams, of which each has many short turns; requests with room
 * for the records of their answers, for whose end others wait; those whose answers may be long: of what comes from the database in
 * one turn of the event loop all is read before anybody's work goes on, and nobody is to wait for ten answers of a thousand
 * records; and the rest, which has two.
 *
 * Where places are served one by one, two reads are served beside that, because a statement may take a second there. Lists that
 * cost much, streams, and clients that had much lately share one of both, so that an ordinary list does not wait for them. Of
 * these who asks for less, and had less of those two lately, goes first.
 */
export class CostlyPlaces {
  readonly #all: FairQueue;
  readonly #isSerial: boolean;
  readonly #others: PlacesOfKind;
  /** Reads that are expected to take little time, where reads are served beside. */
  readonly #light: PlacesOfKind;
  readonly #units: PlacesOfKind;
  readonly #long: PlacesOfKind;
  readonly #withRoom: PlacesOfKind;
  readonly #streams: PlacesOfKind;
  /** What waits for any of them. */
  waiting = 0;
  /** The same without streams. */
  ordinaryWaiting = 0;

  /**
   * @param all the places of the database
   * @param options how those are lent
   * @param othersAreThere whether ordinary requests are there now, or were lately
   */
  constructor(
    all: FairQueue,
    { places, placesOfSlow, timeoutMs, late, serial = false }: FairQueueOptions,
    othersAreThere: () => boolean,
  ) {
    this.#all = all;
    this.#isSerial = serial;
    const alone = Math.max(placesOfSlow, places - placesOfSlow);
    const kinds: PlacesOfKind[] = [];
    const lent = () => kinds.reduce((sum, { queue }) => sum + queue.running, 0);
    const most = (besideOthers: number) => (othersAreThere() ? besideOthers : alone);
    const patience = { timeoutMs, ...(late && { late }) };
    const placesOf = (besideOthers: number, least = 1) => {
      const options = {
        ...patience,
        get places(): number {
          return Math.max(least, Math.min(most(besideOthers), kind.queue.running + most(placesOfSlow) - lent()));
        },
        get placesOfSlow(): number {
          return Math.ceil(most(besideOthers) / 2);
        },
      };
      const kind = new PlacesOfKind(options, serial);
      kinds.push(kind);
      return kind;
    };
    const few = Math.min(mostOfKind, placesOfSlow);
    const beside = (readers: () => number) => {
      const options = {
        ...patience,
        placesOfSlow,
        get places(): number {
          return readers();
        },
      };
      return new PlacesOfKind(options, false);
    };
    // Neither of both kinds has both readers while the other one waits.
    const heavyReaders = () => Math.min(1, readersBeside - this.#light.queue.running);
    const lightReaders = () => readersBeside - (this.#others.queue.isAwaited ? 1 : this.#others.queue.running);
    this.#others = serial ? beside(heavyReaders) : placesOf(placesOfSlow, Math.min(leastOfOthers, placesOfSlow));
    this.#light = serial ? beside(lightReaders) : this.#others;
    // Each keeps its place for many turns of an event loop that lists keep busy, so with one few would end.
    this.#units = placesOf(placesOfSlow, placesOfSlow);
    this.#long = placesOf(few);
    this.#withRoom = placesOf(few);
    this.#streams = placesOf(few);
  }

  /**
   * Asks for a place: for one of these, and once it has that for one of all.
   *
   * @param taker gets what gives both back
   * @returns what gives the turn up while it waits; undefined where it came at once
   */
  take(asking: Asking, taker: Taker<Leave>): (() => void) | undefined {
    const { context, statement, isUnderWay, leaving } = asking;
    const { lent, late, isJoined } = taker;
    const [key, address] = [workKey(context), addressKey(context)];
    const isBeside = this.#isSerial && isRead(statement);
    // An answer that has begun would be cut.
    const isPatient = context?.isStreaming === true;
    const kind = this.#kindOf(context, statement);
    const { queue } = kind;
    let giveUp: (() => void) | undefined;
    const enter = (costly: Place) => {
      const since = performance.now();
      const leaveCostly = (awaited = 0) => {
        queue.giveBack(costly, undefined, awaited);
        if (isBeside) for (const { queue: waiting } of [this.#others, this.#light]) waiting.lendFree();
      };
      const tooLate = (error: Error) => {
        leaveCostly();
        late(error);
      };
      const lentPlace = (place: Place) => {
        const leavePlace = leaving(place);
        const leave = (asked?: Moment | null) => {
          const awaited = leavePlace(asked);
          kind.ended(since, place.since, () => leaveCostly(awaited));
          return awaited;
        };
        lent(isBeside ? Object.assign(leave, { isBeside }) : leave);
      };
      // What writes may have all of those, and wait for a transaction.
      if (isBeside) return lentPlace(this.#all.takeBeside(key, address));
      const all = { isPatient, lent: lentPlace, late: tooLate, isJoined };
      const leaveQueue = this.#all.take(key, all, isUnderWay, address);
      giveUp =
        leaveQueue &&
        (() => {
          leaveQueue();
          leaveCostly();
        });
    };
    const waits = (count: 1 | -1) => {
      if (!isJoined) this.#waits(key, count);
    };
    const waitsNoLonger = <T>(next: (what: T) => void) => {
      return (what: T) => {
        waits(-1);
        next(what);
      };
    };
    const movesOn = () => {
      // Its client may have had much meanwhile.
      if (!isBeside || this.#kindOf(context, statement) === kind) return false;
      waits(-1);
      giveUp = this.take(asking, taker);
      return true;
    };
    waits(1);
    const behindMs = () => this.#behindMs(context, isBeside, asking.expectedMs);
    const own = { isPatient, lent: waitsNoLonger(enter), late: waitsNoLonger(late), isJoined, movesOn, behindMs };
    const leaveQueue = queue.take(key, own, isUnderWay, address);
    if (leaveQueue) giveUp = waitsNoLonger<void>(leaveQueue);
    return giveUp && (() => giveUp?.());
  }

  /**
   * How long a costly request waits for others that are, in milliseconds, of its own caller or of all.
   *
   * @param expectedMs as of `Asking`
   */
  heldBackMs(context: RequestContext, expectedMs: () => number, now: number): number {
    const [caller, address] = [workKey(context), addressKey(context)];
    const reads = this.#readsOf(context);
    const behindMs = this.#behindMs(context, this.#isSerial, expectedMs);
    const longMs = context.isLong ? (this.#isSerial ? reads : this.#long).clientMs(address, behindMs) : 0;
    if (context.isLong && !isCostly(context)) return longMs;
    const ownMs = Math.max(reads.queue.heldBackMs(caller, now), this.#units.queue.heldBackMs(caller, now));
    return Math.max(ownMs, longMs, reads.clientMs(address, behindMs));
  }

  /**
   * Whether the reads of a request may take long, so that others do not wait for them: it is charged with more than an ordinary
   * one, is a stream, or its client has had much of the places for reads lately.
   */
  mayTakeLong(context: RequestContext | undefined): boolean {
    return isCostly(context) || context?.isStreaming === true || this.#hadLately(addressKey(context)) >= muchReadMs;
  }

  /** What the requests of an address had of all places lately, and its streams, in milliseconds. */
  hadOfAll(address: string, now: number): number {
    return this.#all.hadLately(address, now) + this.#all.hadLately(streamsOf(address), now);
  }

  /** How far behind others a request is: each kind knows only what an address used of its own places. */
  #behindMs(context: RequestContext | undefined, isBeside: boolean, expectedMs: () => number): number {
    if (isBeside) return expectedMs() + this.#hadLately(addressKey(context));
    if (context === undefined) return 0;
    return Math.min(mostBehindMs, this.hadOfAll(clientKey(context.ipAddress), performance.now()));
  }

  /** What an address had of the places for reads lately, where reads are served beside, in milliseconds. */
  #hadLately(address: string): number {
    const now = performance.now();
    return this.#light.queue.hadLately(address, now) + this.#others.queue.hadLately(address, now);
  }

  #readsOf(context: RequestContext | undefined): PlacesOfKind {
    return this.#isSerial && !this.mayTakeLong(context) ? this.#light : this.#others;
  }

  #kindOf(context: RequestContext | undefined, statement: string | undefined): PlacesOfKind {
    if (this.#isSerial && isRead(statement)) return this.#readsOf(context);
    if (context?.isStreaming) return this.#streams;
    if (this.#isSerial) return this.#units;
    if (context?.hasRoom) return this.#withRoom;
    if (statement === unitOfWorkPlace) return this.#units;
    return context?.isLong ? this.#long : this.#others;
  }

  /** Counts what waits, or waits no longer. */
  #waits(key: string, count: 1 | -1): void {
    this.waiting += count;
    if (isOrdinary(key)) this.ordinaryWaiting += count;
  }
}
