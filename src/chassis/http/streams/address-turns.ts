/** Where so many wait, an address that has many of them is to ask for no more. */
const crowd = 64;
/** What each address may have waiting all the same. */
const few = 8;
/** What one may have waiting that is alone. */
const mostAlone = 1024;

/** Lends a few places to the client addresses that wait for one: to those that have the least, in turn. */
export class AddressTurns {
  /** What waits of each address, the one first that had no turn for longest. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #usedBy: (address: string) => number;
  #free: number;
  #count = 0;

  /**
   * @param places how many there are
   * @param usedBy how much an address has already: the one with the least is next. Default: none has anything
   */
  constructor(places: number, usedBy: (address: string) => number = () => 0) {
    this.#free = places;
    this.#usedBy = usedBy;
  }

  /** Resolves once the address has a place, which is to be given back by `leave`; undefined where it has one at once. */
  come(address: string): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((begin) => {
      const others = this.#waiting.get(address);
      if (others) others.push(begin);
      else this.#waiting.set(address, [begin]);
      this.#count += 1;
    });
  }

  /** Gives a place back, to who is next. @returns the address that has it now; undefined where none waits */
  leave(): string | undefined {
    const address = this.#next();
    const waiting = address === undefined ? undefined : this.#waiting.get(address);
    if (address === undefined || waiting === undefined) {
      this.#free += 1;
      return undefined;
    }
    this.#waiting.delete(address);
    const begin = waiting.shift();
    if (waiting.length > 0) this.#waiting.set(address, waiting);
    this.#count -= 1;
    begin?.();
    return address;
  }

  #next(): string | undefined {
    let next: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const address of this.#waiting.keys()) {
      const used = this.#usedBy(address);
      if (used >= least) continue;
      next = address;
      least = used;
      if (used === 0) break;
    }
    return next;
  }

  /** Whether many wait and more than its part of them are of this address, or very many of this one alone. */
  isCrowdedBy(address: string): boolean {
    if (this.#count < crowd) return false;
    const addresses = this.#waiting.size;
    const own = this.#waiting.get(address)?.length ?? 0;
    return own >= (addresses === 1 ? mostAlone : Math.max(few, crowd / addresses));
  }
}
