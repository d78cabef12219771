type Placed<T> = T & { [place: symbol]: number };

/**
 * What is open now, such as the connections of a server or the responses that it owes, in no order. Not a Set: each time
 * that a Set makes room, what it leaves behind still leads to the next and to all that was in it, so that requests long
 * answered would fill the old memory.
 */
export class OpenSet<T extends object> {
  readonly #members: Placed<T>[] = [];
  /** Of this set: a member may be in others too. */
  readonly #place = Symbol('place among those that are open');

  get size(): number {
    return this.#members.length;
  }

  /** Those open now. */
  [Symbol.iterator](): Iterator<T> {
    return this.#members.values();
  }

  /** Adds one that is not in it. */
  add(member: T): void {
    (member as Record<symbol, number>)[this.#place] = this.#members.length;
    this.#members.push(member as Placed<T>);
  }

  /** Takes one out that is in it; the last takes its place. */
  remove(member: T): void {
    const last = this.#members.pop() as Placed<T>;
    if (last === member) return;
    const place = (member as Placed<T>)[this.#place] as number;
    (last as Record<symbol, number>)[this.#place] = place;
    this.#members[place] = last;
  }
}
