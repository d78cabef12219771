import { collectGarbage, privateMemory, sweepGarbage } from '../config/private-memory.ts';
import type { Logger } from '../telemetry/logger.ts';
import { throttledLine } from '../telemetry/throttled-line.ts';

const lookMs = 100;
/**
 * The shares of the limit from which on connections are watched, memory is short, and the rest between collections is short
 * too while something can be given up; a tenth of the limit fills within a second. While it is short nothing large comes in:
 * what it becomes while its answer is made needs what is left.
 */
const watchedFrom = 0.6;
const shortFrom = 0.7;
const criticalFrom = 0.8;
/** What is freed is given back to the system a moment later. */
const settleMs = 100;
const relievedMs = 300;
/** Between collections that were enough, or where nothing is left to give up: at least this, and so many times what one took. */
const leastRestMs = 1000;
const restOfCollections = 20;
/** The same of any two collections, also where memory is critical: who fills it must not have the service do nothing but collect. */
const leastRestOfCollections = 3;
/** The share of the limit below which a collection was in vain. */
const gainOfCollection = 0.02;

/** What gives memory back when it is short. */
export interface MemoryRelief {
  /** Learns what could be given back; called ten times a second once memory begins to be short. */
  watch(): void;
  /** Gives some back. @returns how much was given up, in whatever unit */
  relieve(): number;
}

/** What a guard watches, by default this process. */
interface GuardOptions {
  /** What the process may take, in bytes. */
  limitBytes: number;
  logger: Pick<Logger, 'warn'>;
  held?: () => number;
  collect?: () => void;
  sweep?: () => void;
}

/**
 * Keeps the process below its memory limit whatever combination of clients fills it: each budget is a share of the limit,
 * and all of them together are more than all of it. It looks at the memory that the process really has, ten times a second.
 * From seven tenths of the limit on it has garbage collected; if that is not enough, it gives up what waits for clients,
 * and says so by `isShort`, so that nothing long is begun, until less is held once garbage was collected again.
 */
export class MemoryGuard {
  readonly #limit: number;
  readonly #logger: GuardOptions['logger'];
  readonly #held: () => number;
  readonly #collect: () => void;
  readonly #sweep: () => void;
  readonly #reliefs: MemoryRelief[] = [];
  /** Whether memory is short: no answer that takes long or much should begin. */
  isShort = false;
  #hasCollected = false;
  /** Whether there was something to give up the last time. */
  #hasMore = true;
  #collectionMs = 0;
  #restsUntil = 0;
  #criticalUntil = 0;
  /** When garbage may be collected again, whoever asks. */
  #collectsFrom = 0;
  /** When the heap may be emptied again for something that comes in, where the last time was in vain. */
  #emptiesFrom = 0;
  #givenUp = 0;
  readonly #tell = throttledLine<number>((_times, heldBytes) => {
    const facts = { heldBytes, limitBytes: this.#limit, cut: this.#givenUp };
    this.#logger.warn(facts, 'memory short: waiting clients cut');
    this.#givenUp = 0;
  });

  constructor({
    limitBytes,
    logger,
    held = privateMemory,
    collect = collectGarbage,
    sweep = sweepGarbage,
  }: GuardOptions) {
    this.#limit = limitBytes;
    this.#logger = logger;
    this.#held = held;
    this.#collect = collect;
    this.#sweep = sweep;
  }

  /**
   * Whether there is memory for something large that comes in now. Where little is left garbage is collected first, of which
   * large texts and their bytes leave much, and where that was not enough the pages of the heap are given back too: together
   * with all other collections for a quarter of the time at most.
   */
  hasRoom(): boolean {
    const isFull = () => this.#held() >= this.#limit * shortFrom;
    const now = performance.now();
    if (!isFull()) return true;
    if (now < this.#collectsFrom) return false;
    this.#sweep();
    if (isFull() && now >= this.#emptiesFrom) this.#collectGarbage();
    this.#restAfter(performance.now() - now);
    return !isFull();
  }

  /** Has something give memory back when it is short. */
  add(relief: MemoryRelief): void {
    this.#reliefs.push(relief);
  }

  /** Looks ten times a second. @returns ends it */
  start(): () => void {
    const timer = setInterval(() => this.look(), lookMs).unref();
    return () => clearInterval(timer);
  }

  /** Looks once, and does one thing about it: has garbage collected or, where that was not enough, gives up. */
  look(): void {
    const share = this.#held() / this.#limit;
    if (share < watchedFrom) this.isShort = false;
    else for (const relief of this.#reliefs) relief.watch();
    const now = performance.now();
    if (share < shortFrom) this.#enough(now);
    else if (now >= this.#restsUntil || (share >= criticalFrom && this.#hasMore && now >= this.#criticalUntil)) {
      const mayCollect = now >= this.#collectsFrom;
      // Where memory is critical what comes in has just had garbage collected, and must not keep others from being relieved.
      if (this.#hasCollected || (share >= criticalFrom && !mayCollect)) this.#relieve(share, now);
      else if (mayCollect) this.#collectGarbage();
    }
  }

  #enough(now: number): void {
    this.#hasMore = true;
    if (this.#hasCollected) {
      this.#hasCollected = false;
      this.#restsUntil = now + this.#restMs;
      this.isShort = false;
    }
    // Nothing else collects here once the clients have gone, and what is held may be garbage.
    if (this.isShort && now >= Math.max(this.#restsUntil, this.#collectsFrom)) this.#collectGarbage();
  }

  get #restMs(): number {
    return Math.max(leastRestMs, this.#collectionMs * restOfCollections);
  }

  #collectGarbage(): void {
    const [before, beganAt] = [this.#held(), performance.now()];
    this.#collect();
    const collectedAt = performance.now();
    this.#collectionMs = collectedAt - beganAt;
    this.#hasCollected = true;
    this.#restsUntil = collectedAt + settleMs;
    const wasInVain = before - this.#held() < this.#limit * gainOfCollection;
    this.#emptiesFrom = wasInVain ? collectedAt + this.#restMs : 0;
    this.#restAfter(this.#collectionMs);
  }

  #restAfter(collectingMs: number): void {
    this.#collectsFrom = performance.now() + Math.max(settleMs, collectingMs * leastRestOfCollections);
  }

  #relieve(share: number, now: number): void {
    this.isShort = true;
    this.#hasCollected = false;
    const before = this.#givenUp;
    for (const relief of this.#reliefs) this.#givenUp += relief.relieve();
    this.#hasMore = this.#givenUp > before;
    if (this.#hasMore) this.#emptiesFrom = 0;
    this.#criticalUntil = now + this.#collectionMs * leastRestOfCollections;
    this.#restsUntil = this.#hasMore ? Math.max(now + relievedMs, this.#criticalUntil) : now + this.#restMs;
    this.#tell(Math.round(share * this.#limit));
  }
}
