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

  /** What waits, the next one first. @param waiting in the order in which it came */
  inOrder<Work extends Ordered>(waiting: Iterable<Work>): Work[] {
    const ends = new Map<string, number>();
    const starts = Array.from(waiting, (work) => {
      const start = this.#startOf(work, ends.get(work.client));
      ends.set(work.client, start + work.turns);
      return { work, start, lately: this.#lately(work.client) };
    });
    starts.sort((one, other) => one.start - other.start || one.lately - other.lately);
    return starts.map(({ work }) => work);
  }

  /** Notes that work begins. */
  begin(work: Ordered): void {
    const start = this.#startOf(work);
    this.#begun = Math.max(this.#begun, start);
    this.#ends.set(work.client, start + work.turns);
    if (this.#ends.size <= mostClients) return;
    for (const [client, end] of this.#ends) if (end <= this.#begun) this.#ends.delete(client);
  }

  /** Notes that nothing waits or runs: turns that nobody else wanted are counted for nobody. */
  rest(): void {
    this.#ends.clear();
  }

  /** Where work begins, in turns. @param end where the work of its client before it ends; default: what that had */
  #startOf({ client, earliest }: Ordered, end = this.#ends.get(client) ?? earliest): number {
    return Math.max(earliest, end);
  }
}
