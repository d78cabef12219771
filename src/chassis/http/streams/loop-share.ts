import { currentClientKey } from '../../context/request-context.ts';
import { AddressTurns } from './address-turns.ts';

/** What long work together takes of each turn of the event loop, in milliseconds; what came in meanwhile waits no longer. */
const shareMs = 10;
/** After this time what an address has had of it counts half. */
const halfLifeMs = 5000;
const mostAddresses = 10_000;

/** How long the work of each address lately took, in milliseconds. */
class RecentTimes {
  readonly #times = new Map<string, { ms: number; at: number }>();

  of(address: string): number {
    const time = this.#times.get(address);
    return time ? time.ms * 0.5 ** ((performance.now() - time.at) / halfLifeMs) : 0;
  }

  add(address: string, ms: number): void {
    const sum = this.of(address) + ms;
    // What had a turn last comes last, so that the first to be forgotten has had none for longest.
    this.#times.delete(address);
    this.#times.set(address, { ms: sum, at: performance.now() });
    if (this.#times.size > mostAddresses) this.#times.delete(this.#times.keys().next().value as string);
  }
}

/**
 * Lends the event loop to long work, a short piece at a time and in turns: hundreds of long answers that go on whenever their
 * clients have read leave no time to anything else. The next piece is of the address that has had the least of it lately, so
 * that who exports a list once does not wait for each of its pieces behind all bodies of those who send large ones all the
 * time. One for a process, as its loop is.
 */
class LoopShare {
  readonly #times = new RecentTimes();
  /** Without places: no turn is free, each is lent by an immediate. */
  readonly #turns = new AddressTurns(0, (address) => this.#times.of(address));
  #waiting = 0;
  /** The piece under way, which ends before the next immediate. */
  #piece: { readonly address: string; readonly since: number } | undefined;
  #beganAt = 0;
  #isUnderWay = false;

  /** Resolves when the caller may do its next piece of work, of a few milliseconds. */
  turn(): Promise<void> {
    this.#waiting += 1;
    const turn = this.#turns.come(currentClientKey()) as Promise<void>;
    if (!this.#isUnderWay) this.#lend();
    return turn;
  }

  #lend(): void {
    this.#isUnderWay = true;
    this.#beganAt = Number.POSITIVE_INFINITY;
    // All immediates that are there when the loop comes to them run in the same turn of it; the last sees the end of the last piece.
    for (let count = this.#waiting; count >= 0; count -= 1) setImmediate(this.#next, count === 0);
  }

  readonly #next = (isLast: boolean) => {
    const now = performance.now();
    if (this.#piece) this.#times.add(this.#piece.address, now - this.#piece.since);
    this.#piece = undefined;
    if (isLast) {
      this.#isUnderWay = false;
      if (this.#waiting > 0) this.#lend();
      return;
    }
    this.#beganAt = Math.min(this.#beganAt, now);
    if (this.#waiting === 0 || now - this.#beganAt >= shareMs) return;
    this.#waiting -= 1;
    this.#piece = { address: this.#turns.leave() as string, since: now };
  };
}

export const loopShare = new LoopShare();
