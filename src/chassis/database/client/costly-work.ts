import { FairQueue, type Place } from './fair-queue.ts';

/** How the places for costly work are lent. */
interface CostlyWorkOptions {
  /** Places that costly work of all clients may have together. */
  places: number;
  /** Whether it may have no more while no other work is there either. */
  always: boolean;
  /** How long work may wait, in milliseconds; without an end by default. */
  timeoutMs?: number | undefined;
}

/** A place for costly work, and since when; undefined while nothing bounds it. */
export interface CostlyPlace {
  readonly place: Place | undefined;
  readonly since: number;
}

/** Other work that came within this time is there. */
const presentMs = 5000;
/** What the latest work counts of the mean time. */
const weightOfLatest = 0.2;

/**
 * Lets work that costs a database much have a part of its places only, all clients together: many clients that ask for one
 * such list each are, each by itself, no client with slow work. Within that part the places are lent fairly.
 */
export class CostlyWork {
  readonly #options: CostlyWorkOptions;
  readonly #places: FairQueue;
  #waiting = 0;
  #meanMs = 0;
  #otherAt = Number.NEGATIVE_INFINITY;

  constructor(options: CostlyWorkOptions) {
    const { places, timeoutMs } = options;
    this.#options = options;
    this.#places = new FairQueue({ places, placesOfSlow: Math.ceil(places / 2), timeoutMs });
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Says that work came which is not costly. */
  sawOther(): void {
    this.#otherAt = performance.now();
  }

  /** How long work of a client waits that has no other there, in milliseconds: for one turn of each that waits. */
  newcomerMs(): number {
    const { waitingClients } = this.#places;
    return waitingClients === 0 ? 0 : ((waitingClients + 1) * this.#meanMs) / this.#options.places;
  }

  /** How long work of a client has waited for other work of this client, in milliseconds. */
  heldBackMs(key: string, now: number): number {
    return this.#places.heldBackMs(key, now);
  }

  /** Waits for a place. @throws Error when it waited for `timeoutMs` */
  async take(key: string): Promise<CostlyPlace> {
    const isBounded = this.#options.always || performance.now() - this.#otherAt < presentMs;
    if (!isBounded) return { place: undefined, since: performance.now() };
    this.#waiting += 1;
    try {
      const place = await this.#places.take(key);
      return { place, since: performance.now() };
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Takes a place back. */
  giveBack({ place, since }: CostlyPlace): void {
    const tookMs = performance.now() - since;
    this.#meanMs += (tookMs - this.#meanMs) * weightOfLatest;
    if (place) this.#places.giveBack(place);
  }
}
