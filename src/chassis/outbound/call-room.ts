import { clientKey, getRequestContext, serviceKey } from '../context/request-context.ts';
import { PeerFailure } from './peer-failure.ts';

/** A call that waits for its place. */
interface WaitingCall {
  readonly client: string;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * A bounded number of calls of a peer, and of those that wait for them, so that no client keeps the others from the peer: the
 * next place goes to a call of the client address that has the fewest under way, among equals to the one that came first, and
 * where too many wait, the last one of the address with the most gives way. Some places may be for clients with no call under
 * way: those that began together end together, and who came meanwhile would wait for all of that. Calls outside of requests are
 * one client.
 */
export class CallRoom {
  readonly #mayWait: number;
  readonly #kept: number;
  /** In the order in which they came. */
  readonly #waiting = new Set<WaitingCall>();
  readonly #underWay = new Map<string, number>();
  #free: number;

  /**
   * @param atOnce calls under way at the same time
   * @param mayWait how many more wait
   * @param kept places of these that only clients with no call under way may have. Default 0
   */
  constructor(atOnce: number, mayWait: number, kept = 0) {
    this.#free = atOnce;
    this.#kept = kept;
    this.#mayWait = mayWait;
  }

  /**
   * Runs a call once it has a place.
   *
   * @throws PeerFailure for one that gives way, the reason of the signal for one that is aborted while it waits, what `call` raises
   */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const context = getRequestContext();
    const client = context ? clientKey(context.ipAddress) : serviceKey;
    if (this.#mayBegin(client)) this.#take(client);
    else await this.#turn(client, signal);
    try {
      return await call();
    } finally {
      this.#giveBack(client);
    }
  }

  #mayBegin(client: string): boolean {
    return this.#free > (this.#callsOf(client) > 0 ? this.#kept : 0);
  }

  #take(client: string): void {
    this.#free -= 1;
    this.#underWay.set(client, this.#callsOf(client) + 1);
  }

  #giveBack(client: string): void {
    this.#free += 1;
    const left = this.#callsOf(client) - 1;
    if (left > 0) this.#underWay.set(client, left);
    else this.#underWay.delete(client);
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.begin();
  }

  #turn(client: string, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.delete(waiting);
      signal?.removeEventListener('abort', abandon);
    };
    const abandon = () => {
      leave();
      reject(signal?.reason);
    };
    const waiting: WaitingCall = {
      client,
      begin: () => {
        leave();
        // At once, so that nobody who comes before it goes on finds the place free.
        this.#take(client);
        resolve();
      },
      refuse: () => {
        leave();
        reject(new PeerFailure({ reason: 'too many calls' }));
      },
    };
    signal?.addEventListener('abort', abandon);
    this.#waiting.add(waiting);
    if (this.#waiting.size > this.#mayWait) this.#lastOfLargest()?.refuse();
    return promise;
  }

  #callsOf(client: string): number {
    return this.#underWay.get(client) ?? 0;
  }

  #next(): WaitingCall | undefined {
    let next: WaitingCall | undefined;
    for (const call of this.#waiting)
      if (next === undefined || this.#callsOf(call.client) < this.#callsOf(next.client)) next = call;
    return next && this.#mayBegin(next.client) ? next : undefined;
  }

  /** The last call that waits of the client with the most, under way and waiting. */
  #lastOfLargest(): WaitingCall | undefined {
    const counts = new Map(this.#underWay);
    for (const { client } of this.#waiting) counts.set(client, (counts.get(client) ?? 0) + 1);
    let last: WaitingCall | undefined;
    for (const call of this.#waiting)
      if (last === undefined || (counts.get(call.client) ?? 0) >= (counts.get(last.client) ?? 0)) last = call;
    return last;
  }
}
