import { isCostly, type RequestContext } from '../../context/request-context.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import { addressKey, isOrdinary, workKey } from './visitors.ts';

/** Stands for the statement where a place is for a unit of work: those of many callers would have all, and reads would wait. */
export const unitOfWorkPlace = 'unit of work';

/** Places of long answers, of those with room for the records of their answers, and of streams, beside those of the others. */
const mostOfKind = 2;
/** What the latest work counts of the mean time. */
const weightOfLatest = 0.2;

/** Places that one kind of costly requests has. */
export class PlacesOfKind {
  readonly queue: FairQueue;
  #meanMs = 0;

  constructor(options: FairQueueOptions) {
    this.queue = new FairQueue(options);
  }

  /** How long a request of an address waits for the turns of those before it that wait already, and has its own; 0 where none do. */
  clientMs(address: string): number {
    const turns = this.queue.turnsBefore(address);
    return turns === 0 ? 0 : ((turns + 1) * this.#meanMs) / this.queue.places;
  }

  /** Work has had its place for so long, in milliseconds. */
  ended(tookMs: number): void {
    this.#meanMs += (tookMs - this.#meanMs) * weightOfLatest;
  }
}

/**
 * The places that costly requests wait for before they wait with all others: as many as a client with slow work has, all clients
 * together, because many that ask for one costly list each are none with slow work. Within that part they are lent fairly too.
 *
 * Places of their own have units of work, which keep a place while the process is busy, and streams, of which each has many short
 * turns. So do requests with room for the records of their answers, for whose end others wait, and those whose answers may be
 * long: of what comes from the database in one turn of the event loop all is read before anybody's work goes on, and nobody is
 * to wait for ten answers of a thousand records.
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

  constructor({ placesOfSlow: places, timeoutMs, late }: FairQueueOptions) {
    const lending = { placesOfSlow: Math.ceil(places / 2), timeoutMs, ...(late && { late }) };
    this.#others = new PlacesOfKind({ ...lending, places });
    this.#units = new PlacesOfKind({ ...lending, places });
    const ofKind = { ...lending, places: Math.min(mostOfKind, places) };
    this.#long = new PlacesOfKind(ofKind);
    this.#withRoom = new PlacesOfKind(ofKind);
    // An answer that has begun would be cut.
    this.#streams = new PlacesOfKind({ ...ofKind, timeoutMs: undefined });
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
