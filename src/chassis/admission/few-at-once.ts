import {
  clientKey,
  currentWaiters,
  getRequestContext,
  isAbandoned,
  serviceKey,
  stopAbandoned,
  type Waiter,
} from '../context/request-context.ts';
import { tryAgain } from '../errors/try-again.ts';
import { FairOrder } from './fair-order.ts';
import { WindowCounts } from './rate-limit.ts';

/** For how long a turn that a client had counts between those who would come at the same time, in seconds. */
const recently = 60;

/** Whose turn it is, see `run`. */
interface TurnOptions {
  isKnown?: boolean;
  turns?: number;
}

/** A turn that is asked for. */
type AskedTurn = Pick<Waiting, 'client' | 'isKnown' | 'turns' | 'earliest'>;

/** Work that waits for its turn. */
interface Waiting {
  readonly client: string;
  readonly isKnown: boolean;
  /** How many turns it counts for. */
  readonly turns: number;
  /** Where it begins at the earliest, in turns. */
  readonly earliest: number;
  readonly waiters: readonly Waiter[];
  readonly begin: () => void;
  /** Has it look again whether it is worth waiting. */
  readonly wake: () => void;
  readonly refuse: () => void;
}

/**
 * Runs heavy work a few at a time: what holds much memory, or keeps a thread beside the event loop busy. The next turn goes
 * to the client address whose part of them is used least, see `FairOrder`, so that those who ask for less than their part
 * hardly wait for those who ask for more. Clients that the service knows and those that it does not know take every second turn
 * while both wait, so that neither group keeps out the other: nobody becomes known by trying, but anybody is known to accounts
 * of their own.
 */
export class FewAtOnce {
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  readonly #atOnce: number;
  readonly #mayWait: number;
  readonly #had = new WindowCounts(recently);
  readonly #orders = { known: this.#newOrder(), unknown: this.#newOrder() };
  #free: number;
  /** Whether the last turn went to a known client, so that the next one is for the others. */
  #wasKnown = false;

  /**
   * @param atOnce how many run at the same time
   * @param mayWait how many more wait for their turn; by default there is no limit
   */
  constructor(atOnce: number, mayWait = Number.POSITIVE_INFINITY) {
    this.#atOnce = atOnce;
    this.#free = atOnce;
    this.#mayWait = mayWait;
  }

  /**
   * Runs `work` in its turn. Where more would wait than may, the last of known or of unknown clients gives way, whichever
   * has more waiting. Work of a request whose client has gone, or whose deadline has passed, does not begin.
   *
   * @param options `isKnown`: whether the service knows the client for this work, such as an address that an account logs
   * in from. Default false. `turns`: how many it counts for, where some is longer than other. Default 1.
   * @throws ServiceUnavailableException with Retry-After for what gives way, what `stopAbandoned` and `work` raise
   */
  async run<T>(work: () => Promise<T>, { isKnown = false, turns = 1 }: TurnOptions = {}): Promise<T> {
    const context = getRequestContext();
    const client = context ? clientKey(context.ipAddress) : serviceKey;
    const order = this.#orders[groupOf({ isKnown })];
    const asked = { client, isKnown, turns, earliest: order.earliest };
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(asked);
    try {
      stopAbandoned();
      this.#had.consume(client, turns);
      order.begin(asked);
      return await work();
    } finally {
      // The place goes to the next in line, or becomes free.
      const next = this.#next();
      if (next) next.begin();
      else this.#leaveFree();
    }
  }

  #leaveFree(): void {
    this.#free += 1;
    if (this.#free < this.#atOnce) return;
    for (const order of Object.values(this.#orders)) order.rest();
  }

  #newOrder(): FairOrder {
    return new FairOrder((client) => this.#had.known(client).used);
  }

  /** Waits until it has a place. */
  async #turn(asked: AskedTurn): Promise<void> {
    for (let hasPlace = false; !hasPlace; ) {
      stopAbandoned();
      hasPlace = await this.#wait(asked);
    }
  }

  #wait(asked: AskedTurn): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const leaving = (leave: () => void) => () => {
      this.#waiting.delete(waiting);
      leave();
    };
    const waiting: Waiting = {
      ...asked,
      waiters: currentWaiters(),
      begin: leaving(() => resolve(true)),
      wake: leaving(() => resolve(false)),
      refuse: leaving(() => reject(tryAgain())),
    };
    this.#waiting.add(waiting);
    if (this.#waiting.size > this.#mayWait) this.#makeRoom();
    return promise;
  }

  #makeRoom(): void {
    for (const waiting of this.#waiting) if (isAbandoned(waiting.waiters)) waiting.wake();
    if (this.#waiting.size <= this.#mayWait) return;
    const { known, unknown } = this.#inOrder();
    (known.length > unknown.length ? known : unknown).at(-1)?.refuse();
  }

  #next(): Waiting | undefined {
    const { known, unknown } = this.#inOrder();
    const next = this.#wasKnown ? (unknown[0] ?? known[0]) : (known[0] ?? unknown[0]);
    if (next) this.#wasKnown = next.isKnown;
    return next;
  }

  /** What waits, the next one of each group first. */
  #inOrder(): { known: Waiting[]; unknown: Waiting[] } {
    const { known = [], unknown = [] } = Object.groupBy(this.#waiting, groupOf);
    return { known: this.#orders.known.inOrder(known), unknown: this.#orders.unknown.inOrder(unknown) };
  }
}

/** Each group has an order of its own. */
function groupOf({ isKnown }: Pick<Waiting, 'isKnown'>): 'known' | 'unknown' {
  return isKnown ? 'known' : 'unknown';
}
