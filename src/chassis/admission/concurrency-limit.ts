/** How a limit adapts. */
export interface ConcurrencyLimitOptions {
  /** So many requests at once are never too many. */
  minimum: number;
  /** So many are always enough. */
  maximum: number;
  /** Whether work had to wait since the last time this was asked. */
  congested: () => boolean;
}

const intervalMs = 100;
const quietMs = 1000;
const growth = 1.2;
const decrease = 0.8;
/** So many looks in a row at work that waits may come of a pause of the process, such as its own for collecting memory. */
const patience = 3;
/** A burst may be so many times the minimum: more than a second of work would be in before anybody saw it wait. */
const burst = 10;

/**
 * How many requests are worked on at once, ten times the minimum to begin with. Once work has had to wait for longer than a
 * pause of the process explains, the limit falls, by a fifth each tenth of a second, from the number at work down to the
 * minimum, at which the service still does all that it can. While nothing waits it rises, up to the maximum, and is back
 * where it began as soon as nobody need be refused. So what is let in is answered soon, and what is not learns it at once.
 *
 * Below the minimum neither a clock nor the state of the service is asked: the cost of a request is a comparison.
 */
export class ConcurrencyLimit {
  readonly #minimum: number;
  readonly #maximum: number;
  readonly #congested: () => boolean;
  readonly #first: number;
  #limit: number;
  #atWork = 0;
  #adaptedAt = 0;
  #congestedLooks = 0;
  #falling = false;
  #refused = false;

  constructor({ minimum, maximum, congested }: ConcurrencyLimitOptions) {
    this.#minimum = minimum;
    this.#maximum = maximum;
    this.#congested = congested;
    this.#first = Math.min(maximum, minimum * burst);
    this.#limit = this.#first;
  }

  /** Requests at work. */
  get atWork(): number {
    return this.#atWork;
  }

  /** Requests that may be at work at once, as of now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Whether one more may begin. */
  admits(): boolean {
    if (this.#atWork < this.#minimum) return true;
    this.#adapt();
    if (this.#atWork < this.#limit) return true;
    this.#refused = true;
    return false;
  }

  /** One has begun. */
  enter(): void {
    this.#atWork += 1;
  }

  /** One has ended. */
  leave(): void {
    this.#atWork -= 1;
  }

  #adapt(): void {
    const now = performance.now();
    const passed = now - this.#adaptedAt;
    if (passed < intervalMs) return;
    this.#adaptedAt = now;
    const [refused, congested] = [this.#refused, this.#congested()];
    const risen = Math.min(this.#maximum, this.#limit * growth);
    this.#refused = false;
    // Nobody was near the minimum for a while: what was learnt before is of another time.
    if (passed > quietMs) this.#settle(this.#first);
    else if (congested) this.#fall();
    else if (refused) this.#rise(risen);
    else this.#settle(Math.max(this.#first, risen));
  }

  /** Once it has begun, a fall needs no more patience. */
  #fall(): void {
    this.#congestedLooks += 1;
    this.#falling ||= this.#congestedLooks > patience;
    if (this.#falling) this.#limit = Math.max(this.#minimum, Math.min(this.#limit, this.#atWork) * decrease);
  }

  /** Nothing waits, and some had to be refused for that. */
  #rise(limit: number): void {
    this.#congestedLooks = Math.max(0, this.#congestedLooks - 1);
    this.#limit = limit;
    if (limit >= this.#first) this.#falling = false;
  }

  /** All is well. */
  #settle(limit: number): void {
    this.#congestedLooks = 0;
    this.#falling = false;
    this.#limit = limit;
  }
}
