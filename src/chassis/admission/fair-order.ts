/** So many turns of its part a client may leave unused for later. */
const credit = 2;
/** Beyond so many clients those are forgotten that have used no more than their part. */
const mostClients = 1000;

/** Work that waits for its place in the order. */
interface Ordered {
  readonly client: string;
  readonly turns: number;
  /** What `earliest` said when it came. */
  readonly earliest: number;
}

/**
 * The order in which clients have their turns, where each has the same part of them (start-time fair queueing). The work of a
 * client begins where its last ended, counted in turns; of those that wait the one comes next that begins first, and among
 * equals that of the client that had the fewest lately. A client that was away begins a little before the others, however long
 * it was: with a credit for all that time some who come together would keep out all who were there, and without any who asks
 * for less than its part would wait for each of them.
 */
export class FairOrder {
  /** Where the latest work began. */
  #begun = 0;
  /** Where the work of clients ends that had turns. */
  readonly #ends = new Map<string, number>();

  readonly #lately: (client: string) => number;

  /** @param lately how many turns a client had */
  constructor(lately: (client: string) => number) {
    this.#lately = lately;
  }

  /** Where work that comes now begins at the earliest. */
  get earliest(): number {
    return this.#begun - credit;
  }

  /** What waits, in the order in which it came, and where each begins: the next one first. */
  inOrder<Work extends Ordered>(waiting: Iterable<Work>): { work: Work; start: number }[] {
    const ends = new Map<string, number>();
    const begins = Array.from(waiting, (work) => {
      const start = Math.max(work.earliest, ends.get(work.client) ?? this.#endOf(work.client));
      ends.set(work.client, start + work.turns);
      return { work, start, lately: this.#lately(work.client) };
    });
    return begins.sort((one, other) => one.start - other.start || one.lately - other.lately);
  }

  #endOf(client: string): number {
    return this.#ends.get(client) ?? Number.NEGATIVE_INFINITY;
  }

  /** Notes that work begins. */
  begin(work: Ordered): void {
    const start = Math.max(work.earliest, this.#endOf(work.client));
    this.#begun = Math.max(this.#begun, start);
    this.#ends.set(work.client, start + work.turns);
    if (this.#ends.size <= mostClients) return;
    for (const [client, end] of this.#ends) if (end <= this.#begun) this.#ends.delete(client);
  }

  /** Notes that nothing waits or runs: turns that nobody else wanted are counted for nobody. */
  rest(): void {
    this.#ends.clear();
  }
}
