/** A body that comes in. */
export interface HeldBody {
  /** Whose it is: the address, as `clientKey` gives it. */
  readonly client: string;
  /** What is held of it, in bytes. */
  bytes: number;
  /** Has it give way to others. */
  refuse(): void;
}

/** A body that waits to be decompressed. */
interface WaitingBody {
  /** Whose it is, as of a body that comes in. */
  client: string;
  /** What is held of it meanwhile. */
  bytes: number;
  /** What is raised where it has to give way. */
  refusal(): Error;
}

/** Bodies that are decompressed at once: each may become a thousand times as long. */
const decompressedAtOnce = 2;

/**
 * Bounds what all bodies together hold of memory while they come in. Beyond it the client that holds the most gives way,
 * its oldest body first: so a small body on a slow connection is read to its end, whatever hundreds of others send. What is
 * read only to be thrown away is not held and does not count.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #coming = new Set<HeldBody>();
  /** What is held of all bodies of each client, in bytes. */
  readonly #ofClient = new Map<string, number>();
  /** Those that wait to be decompressed, by client: clients take turns, so that nobody waits for all of another's. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #held = 0;
  #decompressing = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts bytes of a body; those beyond the limit have others refused, perhaps this one. */
  hold(body: HeldBody, bytes: number): void {
    this.#coming.add(body);
    body.bytes += bytes;
    this.#count(body.client, bytes);
    if (this.#held > this.#limit) this.#makeRoom();
  }

  /** Ends the count of a body, once it is there or given up. */
  release(body: HeldBody): void {
    if (this.#coming.delete(body)) this.#count(body.client, -body.bytes);
  }

  #count(client: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#ofClient.get(client) ?? 0) + bytes;
    if (held > 0) this.#ofClient.set(client, held);
    else this.#ofClient.delete(client);
  }

  /**
   * Decompresses a body in its turn; one that waits counts with what it has, and gives way as one that comes in.
   *
   * @param waiting whose it is, what is held of it meanwhile, and what it is told where it has to give way
   * @throws what `refusal` makes, or `work` raises
   */
  async decompress<T>(waiting: WaitingBody, work: () => Promise<T>): Promise<T> {
    if (this.#decompressing < decompressedAtOnce) this.#decompressing += 1;
    else await this.#turn(waiting);
    try {
      return await work();
    } finally {
      // The place goes to the next in line, or becomes free.
      if (!this.#startNext()) this.#decompressing -= 1;
    }
  }

  /** Begins the first body of the client whose turn it is, which then goes behind all others; false where none waits. */
  #startNext(): boolean {
    const [next] = this.#waiting;
    if (next === undefined) return false;
    const [client, bodies] = next;
    this.#waiting.delete(client);
    this.#waiting.set(client, bodies);
    const [begin] = bodies;
    begin?.();
    return true;
  }

  #turn({ client, bytes, refusal }: WaitingBody): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const own = this.#waiting.get(client);
        own?.delete(begin);
        if (own?.size === 0) this.#waiting.delete(client);
      };
      const body: HeldBody = {
        client,
        bytes: 0,
        refuse: () => {
          leave();
          reject(refusal());
        },
      };
      const begin = () => {
        leave();
        this.release(body);
        resolve();
      };
      this.#waiting.set(client, (this.#waiting.get(client) ?? new Set()).add(begin));
      this.hold(body, bytes);
    });
  }

  #makeRoom(): void {
    while (this.#held > this.#limit) {
      const body = this.#oldestOf(this.#largestClient());
      if (body === undefined) return;
      this.release(body);
      body.refuse();
    }
  }

  #largestClient(): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const [client, held] of this.#ofClient) {
      if (held <= most) continue;
      largest = client;
      most = held;
    }
    return largest;
  }

  #oldestOf(client: string | undefined): HeldBody | undefined {
    for (const body of this.#coming) if (body.client === client) return body;
    return undefined;
  }
}
