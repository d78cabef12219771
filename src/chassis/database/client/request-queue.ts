import {
  clientKey,
  currentShare,
  getRequestContext,
  type RequestContext,
  stopAbandoned,
} from '../../context/request-context.ts';
import { FirstTurn, type Taker } from '../../context/shared-run.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { CostlyPlaces, type Leave } from './costly-places.ts';
import { AwaitedAnswers, CostlyWork, idleTime, unitOfWorkPlace } from './costly-work.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import type { Place } from './measured-use.ts';
import { addressKey, presentMs, Visitors, workKey } from './visitors.ts';

/**
 * Lends the places of a database to requests, fairly, and counts who waits and whose turn came: requests, each once however
 * many of its queries wait, and queries. They tell how long a request waits in all: as long as it takes to serve those before it.
 *
 * Costly requests wait for places of theirs before: see `CostlyPlaces`.
 */
export class RequestQueue {
  /** Queries that may run at once. */
  readonly places: number;
  readonly #visitors = new Visitors();
  /** When an ordinary request was last there. Those that come with the first costly ones after a start are to find places too. */
  #ordinaryAt = performance.now();
  readonly #places: FairQueue;
  readonly #costly: CostlyPlaces;
  readonly #work: CostlyWork;
  readonly #awaited = new AwaitedAnswers();
  /** For how long work of a client may wait for other work of the same one before what comes after it is refused. */
  readonly #patienceMs: number;
  #used: (client: string, ms: number) => void = () => undefined;

  constructor(options: FairQueueOptions) {
    const { serial = false, timeoutMs } = options;
    this.#patienceMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : timeoutMs / 2;
    this.places = options.places;
    this.#places = new FairQueue(options);
    this.#work = new CostlyWork(serial);
    // Where places are served one by one, others are always held to be there.
    const othersAreThere = () => serial || performance.now() - this.#ordinaryAt < presentMs;
    this.#costly = new CostlyPlaces(this.#places, options, othersAreThere);
  }

  /** Requests that wait now. */
  get waiting(): number {
    return this.#visitors.waiting;
  }

  /** Requests whose turn came, since the start. */
  get served(): number {
    return this.#visitors.served;
  }

  /** Queries that wait now, of all requests. */
  get waitingQueries(): number {
    return this.#visitors.waitingQueries;
  }

  /** Queries among them of requests that end once they had their turns, at most two of each; see `Visitors`. */
  get ordinaryQueries(): number {
    return this.#visitors.ordinaryQueries;
  }

  /** Queries among all that wait for others of their own client, or for other costly ones, and keep nobody else waiting. */
  get heldBackQueries(): number {
    return this.#places.heldBack + this.#costly.waiting;
  }

  /** The same without those of streams and of work outside of requests. */
  get ordinaryHeldBackQueries(): number {
    return this.#places.ordinaryHeldBack + this.#costly.ordinaryWaiting;
  }

  /** Queries whose turn came, since the start. */
  get servedQueries(): number {
    return this.#visitors.servedQueries;
  }

  /**
   * How long queries of a request wait for others, in milliseconds, of its own caller or, where it is costly, for other
   * costly ones; 0 once it has written, because it is to go on.
   */
  heldBackMs(context: RequestContext, now: number): number {
    if (this.#visitors.hasWritten(context)) return 0;
    const ownMs = this.#places.heldBackMs(workKey(context), now);
    if (!this.#work.isCostly(context)) return ownMs;
    const expectedMs = () => this.#work.expectedMs(context, undefined);
    return Math.max(ownMs, this.#costly.heldBackMs(context, expectedMs, now));
  }

  /** How long a query that comes from an address now waits for its turn, in milliseconds. */
  clientMs(address: string): number {
    return this.#places.clientMs(address);
  }

  /** What the requests of an address had of the database lately, in milliseconds, the latest most. */
  hadLately(address: string, now: number): number {
    return this.#costly.hadOfAll(address, now);
  }

  /** Whether the reads of a request may take long, so that others do not wait for them. */
  mayTakeLong(context: RequestContext | undefined): boolean {
    return this.#costly.mayTakeLong(context);
  }

  /**
   * Has `listener` hear what requests of a client had of the database as their part of the time, in milliseconds, as far as
   * their answers had not come for sure: one that came may have waited for the event loop.
   */
  onUse(listener: (client: string, ms: number) => void): void {
    this.#used = listener;
  }

  /**
   * Waits for a place for the request under way, then for what opens it. Work that several share waits for a place for each of
   * them, and takes the first that comes.
   *
   * @param open its failure gives the place back; it is told whether it is a read to be served beside the others. What it takes,
   * such as to connect, says nothing of what the statement does
   * @param statement the read that the place is for, or `unitOfWorkPlace`; undefined for a write
   * @returns what was opened, and what gives the place back
   * @throws ServiceUnavailableException at once where other work of the same client has waited for half of `timeoutMs` for
   * work of this client: what comes after it would wait in vain; never for what a request does once it has written; what
   * `stopAbandoned` raises, as soon as nobody waits any more
   */
  async enter<T>(
    open: (isBeside?: boolean) => Promise<T>,
    statement?: string,
  ): Promise<{ opened: T; leave: () => void }> {
    const { opened, leave } = await this.#enter(open, statement, false);
    const asked = { at: performance.now(), idleMs: idleTime() };
    return { opened, leave: () => leave(asked) };
  }

  /** @param asks whether `open` is what asks the database, and counts where it fails */
  async #enter<T>(
    open: (isBeside?: boolean) => Promise<T>,
    statement: string | undefined,
    asks: boolean,
  ): Promise<{ opened: T; leave: Leave }> {
    const context = getRequestContext();
    const share = currentShare();
    if (context !== undefined && share === undefined && !context.isStreaming) this.#refuseInVain(context);
    const visitor = this.#visitors.begin(context);
    let leave: Leave | undefined;
    // Where the database was not asked, nothing was had of it.
    let asked: null | undefined = null;
    let served = false;
    try {
      leave = this.#takeFree(context, statement);
      leave ??= await new FirstTurn<Leave>(
        (by, taker) => this.#ask(by, taker, statement),
        share ?? { own: context },
      ).come();
      share?.close();
      stopAbandoned();
      if (asks) asked = undefined;
      const opened = await open(leave.isBeside);
      served = true;
      visitor.hasWritten ||= statement === undefined || statement === unitOfWorkPlace;
      return { opened, leave };
    } finally {
      if (!served) leave?.(asked);
      this.#visitors.end(visitor, served, context);
    }
  }

  #refuseInVain(context: RequestContext): void {
    // What a request does then is for its answer: refused, it would pass for one that has changed nothing.
    if (this.#visitors.hasWritten(context)) return;
    const waitedMs = this.#places.heldBackMs(workKey(context), performance.now());
    if (waitedMs > this.#patienceMs)
      throw tryAgain('Requests of yours that take long are under way; try again after one of them');
  }

  /** Most requests find a place free, and need no turn. */
  #takeFree(context: RequestContext | undefined, statement?: string): Leave | undefined {
    if (this.#work.isCostly(context, statement)) return undefined;
    this.#noteOrdinary(context);
    const place = this.#places.takeFree(workKey(context), addressKey(context));
    return place && this.#leaving(place, context, statement);
  }

  /** What gives a place back that was lent now. */
  #leaving(place: Place, context: RequestContext | undefined, statement?: string): Leave {
    const lent = { at: place.since, idleMs: idleTime() };
    return (asked = lent) => {
      const now = performance.now();
      const awaited = asked === null ? 0 : this.#awaited.part(place.since, asked, now);
      this.#places.giveBack(place, (hadMs) => {
        // A unit of work has its place while the process does something else.
        if (asked === null || statement === unitOfWorkPlace) return;
        this.#work.countStatement(statement, hadMs * awaited);
        if (context === undefined) return;
        this.#work.countRequest(context, hadMs * awaited, now);
        this.#used(clientKey(context.ipAddress), hadMs * awaited);
      });
      return awaited;
    };
  }

  /** What the service does by itself, such as a health check, has no costly request wait. */
  #noteOrdinary(context: RequestContext | undefined): void {
    if (context !== undefined) this.#ordinaryAt = Math.max(this.#ordinaryAt, performance.now());
  }

  /** Asks for a place for a request, and among the costly first where it is. */
  #ask(context: RequestContext | undefined, taker: Taker<Leave>, statement?: string): (() => void) | undefined {
    const [key, address] = [workKey(context), addressKey(context)];
    const isUnderWay = this.#isUnderWay(context);
    const leaving = (place: Place) => this.#leaving(place, context, statement);
    const expectedMs = () => this.#work.expectedMs(context, statement);
    const asCostly = () => this.#costly.take({ context, statement, expectedMs, isUnderWay, leaving }, taker);
    if (this.#work.isCostly(context, statement)) return asCostly();
    this.#noteOrdinary(context);
    let giveUp: (() => void) | undefined;
    const lent = (place: Place) => taker.lent(leaving(place));
    const movesOn = () => {
      // Thousands may have come before any of them was measured.
      const isCostly = this.#work.isCostly(context, statement);
      if (isCostly) giveUp = asCostly();
      return isCostly;
    };
    giveUp = this.#places.take(key, { ...taker, lent, movesOn }, isUnderWay, address);
    return giveUp && (() => giveUp?.());
  }

  /** Waits for a place and has it while `work` runs, which is waiting too where places are served one after the other. */
  async run<T>(work: (isBeside?: boolean) => Promise<T>, statement?: string): Promise<T> {
    const { opened, leave } = await this.#enter(work, statement, true);
    leave();
    return opened;
  }

  /** Whether a request has had a place or has room for its answer, and is to end; a stream goes on for as long as its client likes. */
  #isUnderWay(context: RequestContext | undefined): boolean {
    if (context === undefined || context.isStreaming) return false;
    return context.hasRoom === true || this.#visitors.wasServed(context);
  }
}
