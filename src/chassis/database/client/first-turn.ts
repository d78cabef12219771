import type { Waiter } from '../../context/request-context.ts';
import type { SharedWork, Sharer } from '../../context/shared-work.ts';

/** Who asks for a turn, and what it gets with it. */
export interface Taker<T> {
  /** The turn came, at once or later. */
  lent(what: T): void;
  /** It waited for too long. */
  late(error: Error): void;
  /** Whether the same work waits for a turn of another client already, so that it counts once. */
  readonly isJoined: boolean;
}

/** Gives a place back. */
export type Leave = () => void;

/** Asks for a turn of a request. Gives what gives the turn up while it waits; undefined where it came at once. */
type Ask = (context: Waiter, taker: Taker<Leave>) => (() => void) | undefined;

/**
 * Waits for a turn. Work that several share waits for one of each of them: the first that comes is taken and the others are given up, so
 * nobody waits for longer because the work is shared, and who gave the turn pays for it.
 */
export class FirstTurn {
  readonly #ask: Ask;
  readonly #waiting: (() => void)[] = [];
  #unwatch: (() => void) | undefined;
  #leave: Leave | undefined;
  #coming: PromiseWithResolvers<Leave> | undefined;

  /** @param share the work that several share, or the request whose own it is */
  constructor(ask: Ask, share: SharedWork<Waiter> | { readonly own: Waiter }) {
    this.#ask = ask;
    if ('own' in share) this.#add({ context: share.own, leave: () => false });
    else this.#unwatch = share.watch((sharer) => this.#add(sharer));
  }

  /** What gives the place back; at once where there was one. @throws Error when none of those who wait had a turn in time */
  come(): Leave | Promise<Leave> {
    if (this.#leave) {
      this.#end();
      return this.#leave;
    }
    this.#coming = Promise.withResolvers();
    return this.#coming.promise;
  }

  #add(sharer: Sharer<Waiter>): void {
    if (this.#leave) return;
    let giveUp: (() => void) | undefined;
    giveUp = this.#ask(sharer.context, {
      lent: (leave) => {
        this.#leave = leave;
        this.#forget(giveUp);
        this.#end();
        this.#coming?.resolve(leave);
      },
      late: (error) => {
        this.#forget(giveUp);
        if (sharer.leave(error)) return;
        this.#end();
        this.#coming?.reject(error);
      },
      isJoined: this.#waiting.length > 0,
    });
    if (giveUp) this.#waiting.push(giveUp);
  }

  #forget(giveUp: (() => void) | undefined): void {
    const index = giveUp ? this.#waiting.indexOf(giveUp) : -1;
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  #end(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    for (const giveUp of this.#waiting.splice(0)) giveUp();
  }
}
