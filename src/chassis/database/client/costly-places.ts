import { isCostly, ordinaryCost, type RequestContext } from '../../context/request-context.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import { keptAfter, mostAddresses } from './measured-use.ts';
import { addressKey, isOrdinary, workKey } from './visitors.ts';

/** Stands for the statement where a place is for a unit of work: those of many callers would have all, and reads would wait. */
export const unitOfWorkPlace = 'unit of work';

/** Places of long answers, of those with room for the records of their answers, and of streams, beside those of the others. */
const mostOfKind = 2;
/**
 * Where places are served one by one: the pause behind costly work that ran for longer than this, in milliseconds. An ordinary request
 * asks several times, one after the other, and each time would wait for another costly statement that began in between.
 */
const restMs = 50;
/** What the latest work counts of the mean time. */
const weightOfLatest = 0.2;

/** Places that one kind of costly requests has. */
export class PlacesOfKind {
  readonly queue: FairQueue;
  readonly #rests: boolean;
  #meanMs = 0;

  /** @param rests whether there is a pause behind each that took long */
  constructor(options: FairQueueOptions, rests: boolean) {
    this.queue = new FairQueue(options);
    this.#rests = rests;
  }

  /** How long a request of an address waits for the turns of those before it that wait already, and has its own; 0 where none do. */
  clientMs(address: string): number {
    const turns = this.queue.turnsBefore(address);
    return turns === 0 ? 0 : ((turns + 1) * this.#meanMs) / this.queue.places;
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

/**
 * The places that costly requests wait for before they wait with all others: as many as a client with slow work has, all clients
 * together, because many that ask for one costly list each are none with slow work. Within that part they are lent fairly too.
 * Where no others are there, they have all but that many, so that who comes next finds a place free.
 *
 * Each kind has one of them at least, and all kinds together have no more. Kinds are units of work, which keep a place while the
 * process is busy; streams, of which each has many short turns; requests with room for the records of their answers, for whose
 * end others wait; and those whose answers may be long: of what comes from the database in one turn of the event loop all is
 * read before anybody's work goes on, and nobody is to wait for ten answers of a thousand records.
 */
export class CostlyPlaces {
  readonly #others: PlacesOfKind;
  readonly #units: PlacesOfKind;
  readonly #long: PlacesOfKind;
  readonly #withRoom: PlacesOfKind;
  readonly #streams: PlacesOfKind;
  /** What waits for any of them. */
  waiting = 0;
  /** The same without streams. */
  ordinaryWaiting = 0;

  /** @param othersAreThere whether ordinary requests are there now, or were lately */
  constructor(
    { places: all, placesOfSlow, timeoutMs, late, serial: rests = false }: FairQueueOptions,
    othersAreThere: () => boolean,
  ) {
    const alone = Math.max(placesOfSlow, all - placesOfSlow);
    const kinds: PlacesOfKind[] = [];
    const lent = () => kinds.reduce((sum, { queue }) => sum + queue.running, 0);
    const most = (besideOthers: number) => (othersAreThere() ? besideOthers : alone);
    const placesOf = (besideOthers: number, waiting = { timeoutMs, ...(late && { late }) }) => {
      const options = {
        ...waiting,
        get places(): number {
          return Math.max(1, Math.min(most(besideOthers), kind.queue.running + most(placesOfSlow) - lent()));
        },
        get placesOfSlow(): number {
          return Math.ceil(most(besideOthers) / 2);
        },
      };
      const kind = new PlacesOfKind(options, rests);
      kinds.push(kind);
      return kind;
    };
    const few = Math.min(mostOfKind, placesOfSlow);
    this.#others = placesOf(placesOfSlow);
    this.#units = placesOf(placesOfSlow);
    // Where they are served one by one, each ordinary statement would wait for one of each kind.
    this.#long = rests ? this.#others : placesOf(few);
    this.#withRoom = rests ? this.#others : placesOf(few);
    // An answer that has begun would be cut.
    this.#streams = placesOf(few, { timeoutMs: undefined });
  }

  /** Those that a request waits for with a statement. */
  of(context: RequestContext | undefined, statement: string | undefined): PlacesOfKind {
    if (context?.isStreaming) return this.#streams;
    if (context?.hasRoom) return this.#withRoom;
    if (statement === unitOfWorkPlace) return this.#units;
    return context?.isLong ? this.#long : this.#others;
  }

  /** Counts what waits, or waits no longer. */
  waits(key: string, count: 1 | -1): void {
    this.waiting += count;
    if (isOrdinary(key)) this.ordinaryWaiting += count;
  }

  /** How long a costly request waits for others that are, in milliseconds, of its own caller or of all. */
  heldBackMs(context: RequestContext, now: number): number {
    const [caller, address] = [workKey(context), addressKey(context)];
    const longMs = context.isLong ? this.#long.clientMs(address) : 0;
    if (context.isLong && !isCostly(context)) return longMs;
    const ownMs = Math.max(this.#others.queue.heldBackMs(caller, now), this.#units.queue.heldBackMs(caller, now));
    return Math.max(ownMs, longMs, this.#others.clientMs(address));
  }
}

/** A statement that has this much of the database, in milliseconds, is slow, until it has less than half of it on average. */
const slowStatementMs = 50;
const mostSlow = 500;
/** Each may be a query of some thousand characters in other words. */
const mostQuick = 1000;

/** The statements that were slow lately, which are few, and the latest that were run for the first time and were not. */
class KnownStatements {
  readonly #means = new Map<string, number>();
  readonly #quick = new Set<string>();

  has(statement: string | undefined): boolean {
    return statement !== undefined && this.#means.has(statement);
  }

  /** Whether a statement may be slow, because it has not been run yet. */
  knowsNothingOf(statement: string | undefined): boolean {
    return statement !== undefined && !this.#quick.has(statement) && !this.#means.has(statement);
  }

  /** Counts what a statement had of the database; the latest counts half. */
  ended(statement: string | undefined, hadMs: number): void {
    if (statement === undefined) return;
    if (hadMs < slowStatementMs && !this.#means.has(statement)) return void this.#noteQuick(statement);
    const mean = ((this.#means.get(statement) ?? hadMs) + hadMs) / 2;
    this.#means.delete(statement);
    if (mean >= slowStatementMs / 2) this.#means.set(statement, mean);
    else this.#noteQuick(statement);
    if (this.#means.size > mostSlow) this.#means.delete(this.#means.keys().next().value as string);
  }

  #noteQuick(statement: string): void {
    this.#quick.add(statement);
    if (this.#quick.size > mostQuick) this.#quick.delete(this.#quick.keys().next().value as string);
  }
}

/**
 * What a request may have of the database, in milliseconds, for what it is charged with: one that costs as much as any ordinary
 * one as long as a statement that is not slow.
 */
export function expectedMs(cost: number): number {
  return (cost / ordinaryCost) * slowStatementMs;
}

/** What requests of one address had of the database, in milliseconds, the latest most. */
interface Measured {
  hadMs: number;
  /** The same, each time as often as it is what was expected: long ones count most, so that many short ones do not hide them. */
  timesCharged: number;
  at: number;
}

/** Less of the database, in milliseconds, says nothing of a charge; nor is less expected, as of finding one record. */
const leastMs = 20;
/** What a request is charged with of which so little is expected. */
const leastCost = (leastMs / slowStatementMs) * ordinaryCost;
/** What finding few records by an index is charged with, and a page of them. */
const costOfFew = 5;
/** Who had less of the database lately, in milliseconds, may have had one list that took long: that says nothing of what comes next. */
const muchMs = 200;
/** So much as was expected is added to what was had, because one request says little; and after a pause nothing is left to say. */
const priorMs = 50;

/**
 * How many times what they were charged with the requests of an address had of the database. A charge is an estimate from what a
 * request asks for, and cannot know what the planner does with it. Somebody who asks for what is charged too little can change
 * the words of the request each time, and not what it takes.
 */
export class MeasuredCost {
  /** Those whose requests took longer than they were charged for. They are few, so that others cost next to nothing here. */
  readonly #addresses = new Map<string, Measured>();

  /** How many times its charge a request of an address is likely to cost; 1 at least, and where the address had little lately. */
  timesCharged(address: string, now: number): number {
    const measured = this.#addresses.get(address);
    if (measured === undefined) return 1;
    decay(measured, now);
    if (measured.hadMs < muchMs) return 1;
    return Math.max(1, (measured.timesCharged + priorMs) / (measured.hadMs + priorMs));
  }

  /** Counts a statement of a request, of which so much was expected. */
  ended(address: string, expected: number, hadMs: number, now: number): void {
    if (hadMs < leastMs) return;
    const measured = this.#addresses.get(address) ?? this.#open(address, hadMs > expected);
    if (measured === undefined) return;
    decay(measured, now);
    measured.hadMs += hadMs;
    measured.timesCharged += hadMs * (hadMs / Math.max(leastMs, expected));
  }

  #open(address: string, isMore: boolean): Measured | undefined {
    if (!isMore) return undefined;
    if (this.#addresses.size >= mostAddresses) this.#addresses.delete(this.#addresses.keys().next().value as string);
    const measured = { hadMs: 0, timesCharged: 0, at: 0 };
    this.#addresses.set(address, measured);
    return measured;
  }
}

function decay(measured: Measured, now: number): void {
  const kept = keptAfter(now - measured.at);
  measured.hadMs *= kept;
  measured.timesCharged *= kept;
  measured.at = now;
}

/**
 * Which work is costly: by what its request was charged with, by what that has meant lately where it comes from, by how many records
 * the answer may have, and what runs a statement that was slow lately, or that nothing is known of. A unit of work may hold up
 * others for as long as it likes.
 */
export class CostlyWork {
  readonly #statements = new KnownStatements();
  readonly #measured = new MeasuredCost();
  readonly #serial: boolean;

  /** @param serial whether one costly statement after the other is served, so that a new one would wait for all others */
  constructor(serial = false) {
    this.#serial = serial;
  }

  /** @param statement the read, or `unitOfWorkPlace`; undefined for a write, or for a request as such */
  isCostly(context: RequestContext | undefined, statement?: string): boolean {
    if (context === undefined) return false;
    if (statement === unitOfWorkPlace || context.isLong || isCostly(context) || this.#statements.has(statement))
      return true;
    const { cost = 0 } = context;
    if (cost === 0) return false;
    if (!this.#serial && cost > costOfFew && this.#statements.knowsNothingOf(statement)) return true;
    return (
      Math.max(leastCost, cost) * this.#measured.timesCharged(addressKey(context), performance.now()) > ordinaryCost
    );
  }

  /** Counts what a statement had of the database, in milliseconds. */
  countStatement(statement: string | undefined, hadMs: number): void {
    this.#statements.ended(statement, hadMs);
  }

  /** Counts what a request had of the database for sure with one of its statements, in milliseconds. */
  countRequest(context: RequestContext, hadMs: number, now: number): void {
    this.#measured.ended(addressKey(context), expectedMs(context.cost ?? 0), hadMs, now);
  }
}
