import { AsyncResource } from 'node:async_hooks';
import { RequestAbandonedException } from '../errors/exceptions.ts';
import { currentWaiter, sharedBy, type Waiter } from './request-context.ts';
import type { SharedWork, Sharer } from './shared-work.ts';

/** A caller of a run, whose promise is settled by one of the two. */
class Caller implements Sharer<Waiter> {
  readonly context = currentWaiter();
  readonly run: SharedRun;
  readonly resolve: (outcome: never) => void;
  readonly reject: (error: unknown) => void;

  constructor(run: SharedRun, resolve: Caller['resolve'], reject: Caller['reject']) {
    this.run = run;
    this.resolve = resolve;
    this.reject = reject;
  }

  leave(error: Error): boolean {
    return this.run.release(this, error);
  }
}

/** Callers who get an outcome in the turn of the event loop in which it comes, and in the next one. */
const together = 4;
/** How long a turn may take whose callers all do something with what they got, in milliseconds. */
const turnMs = 5;

/** One run of a read, and those who share it. */
export class SharedRun implements SharedWork<Waiter> {
  readonly waiters: Waiter[] = [];
  #callers: Caller[] = [];
  readonly #followers: Sharer<Waiter>[] = [];
  /** Functions that `AsyncResource` binds have a hidden class each, which V8 keeps with their context until it collects the old generation. */
  readonly #asker = new AsyncResource('SharedRun');
  readonly #work: () => Promise<unknown>;
  /** Queues in which the run waits now; several where its work asks for several things at once. */
  readonly #watchers: ((sharer: Sharer<Waiter>) => void)[] = [];
  #isOpen = true;

  /** @param work runs in the asynchronous context of who makes this */
  constructor(work: () => Promise<unknown>) {
    this.#work = work;
  }

  /** Whether the read sees all that was written before now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Adds a caller, who gets the outcome. @param before the run that has to end first, for which the caller gives its turns */
  join<T>(before: SharedRun | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const caller = new Caller(this, resolve, reject);
      this.#callers.push(caller);
      this.waiters.push(caller.context);
      for (const joined of this.#watchers) joined(caller);
      before?.follow(caller.context);
    });
  }

  /** Adds somebody who waits for the end, and not for the outcome. */
  follow(context: Waiter): void {
    // It loses nothing where its turn comes too late.
    const follower = { context, leave: () => true };
    this.#followers.push(follower);
    for (const joined of this.#watchers) joined(follower);
  }

  watch(join: (sharer: Sharer<Waiter>) => void): () => void {
    for (const caller of this.#callers) join(caller);
    for (const follower of this.#followers) join(follower);
    this.#watchers.push(join);
    return () => void this.#watchers.splice(this.#watchers.indexOf(join), 1);
  }

  /** Runs the work, and gives its outcome to the callers; never raises. */
  async perform(): Promise<void> {
    let settle: (caller: Caller) => void;
    try {
      const outcome = await this.#asker.runInAsyncScope(sharedBy, undefined, this, async () => this.#work());
      settle = ({ resolve }) => resolve(outcome as never);
    } catch (error) {
      settle = ({ reject }) => reject(error);
    }
    this.close();
    const callers = this.#callers;
    // What began within the run may last, such as the timer of the connection that it gave back: it keeps the run, which shall
    // not keep the outcome.
    this.#callers = [];
    for (let index = 0; index < callers.length && index < together; index += 1) settle(callers[index] as Caller);
    if (callers.length > together) handOut(callers, settle, together);
  }

  /** Gives a caller an error of its own; false where it is the last one, which waits on. */
  release(caller: Caller, error: Error): boolean {
    const index = this.#callers.indexOf(caller);
    if (index === -1) return true;
    if (this.#callers.length === 1) return false;
    this.#callers.splice(index, 1);
    this.waiters.splice(index, 1);
    caller.reject(error);
    return true;
  }
}

/** Gives an outcome to those who wait for it, in each turn of the event loop to as many as leave time for others. */
function handOut(callers: readonly Caller[], settle: (caller: Caller) => void, from: number, count = together): void {
  let began = 0;
  setImmediate(() => {
    began = performance.now();
    for (const caller of callers.slice(from, from + count)) settle(caller);
  });
  // What they do with it runs before this one.
  setImmediate(() => {
    const next = performance.now() - began < turnMs ? 2 * count : Math.max(1, count >> 1);
    if (from + count < callers.length) handOut(callers, settle, from + count, next);
  });
}

/** Who asks for a turn, and what it gets with it. */
export interface Taker<T> {
  /** The turn came, at once or later. */
  lent(what: T): void;
  /** It waited for too long. */
  late(error: Error): void;
  /** Whether the same work waits for a turn of another client already, so that it counts once. */
  readonly isJoined: boolean;
}

/** What gives a turn up, and what ends listening for its client to go. */
interface Asked {
  readonly giveUp: () => void;
  stop: (() => void) | undefined;
}

/** Asks for a turn of a request. Gives what gives the turn up while it waits; undefined where it came at once. */
type Ask<T> = (context: Waiter, taker: Taker<T>) => (() => void) | undefined;

/**
 * Waits for a turn. Work that several share waits for one of each of them: the first that comes is taken and the others are given up, so
 * nobody waits for longer because the work is shared, and who gave the turn pays for it. Who goes away waits no longer: what waits for a
 * turn takes memory, and clients that go come again with more.
 */
export class FirstTurn<T> {
  readonly #ask: Ask<T>;
  readonly #share: SharedWork<Waiter> | undefined;
  readonly #waiting: Asked[] = [];
  #unwatch: (() => void) | undefined;
  #lent: { readonly what: T } | undefined;
  #coming: PromiseWithResolvers<T> | undefined;

  /** @param share the work that several share, or the request whose own it is */
  constructor(ask: Ask<T>, share: SharedWork<Waiter> | { readonly own: Waiter }) {
    this.#ask = ask;
    if ('own' in share) this.#add({ context: share.own, leave: () => false }, currentWaiter());
    else {
      this.#share = share;
      this.#unwatch = share.watch((sharer) => this.#add(sharer, sharer.context));
    }
  }

  /** What the turn brought; at once where it came so. @throws Error when none of those who wait had a turn in time */
  come(): T | Promise<T> {
    if (this.#lent) {
      this.#end();
      return this.#lent.what;
    }
    this.#coming = Promise.withResolvers();
    return this.#coming.promise;
  }

  /** @param waiter whose going ends its waiting; undefined for nobody's */
  #add(sharer: Sharer<Waiter>, waiter: Waiter): void {
    if (this.#lent) return;
    let asked: Asked | undefined;
    const giveUp = this.#ask(sharer.context, {
      lent: (what) => {
        this.#lent = { what };
        this.#forget(asked);
        this.#end();
        this.#coming?.resolve(what);
      },
      late: (error) => {
        this.#forget(asked);
        this.#lose(sharer, error);
      },
      isJoined: this.#waiting.length > 0,
    });
    if (giveUp === undefined) return;
    asked = { giveUp, stop: undefined };
    this.#waiting.push(asked);
    asked.stop = waiter?.onAbort?.(() => {
      this.#forget(asked);
      giveUp();
      this.#lose(sharer, new RequestAbandonedException(waiter.abortReason));
    });
  }

  #lose(sharer: Sharer<Waiter>, error: Error): void {
    if (sharer.leave(error)) return;
    // Who asks from now on would get an error of others.
    this.#share?.close();
    this.#end();
    this.#coming?.reject(error);
  }

  /** The context of its request may last for hours, as that of a stream does. */
  #forget(asked: Asked | undefined): void {
    const index = asked ? this.#waiting.indexOf(asked) : -1;
    if (index === -1) return;
    asked?.stop?.();
    this.#waiting.splice(index, 1);
  }

  #end(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    for (const { giveUp, stop } of this.#waiting.splice(0)) {
      stop?.();
      giveUp();
    }
  }
}
