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
  /** What it may become at most, in bytes: counted where it cannot be decompressed. */
  mostBytes: number;
  /** What is raised where it has to give way. */
  refusal(): Error;
}

/** Bodies that are decompressed at once: each may become a thousand times as long. */
const decompressedAtOnce = 2;
/** For how long what was decompressed counts for the turns of its client at most, in milliseconds, and of how many clients. */
const recentlyMs = 60_000;
const mostClients = 10_000;
/** A body that has waited for so long is refused: its client sends more than its share, or so do thousands. */
const longestWaitMs = 2_000;

/**
 * Bounds what all bodies together hold of memory while they come in. Beyond it the client that holds the most gives way,
 * its oldest body first: so a small body on a slow connection is read to its end, whatever hundreds of others send. What is
 * read only to be thrown away is not held and does not count.
 */
export class BodyBudget {
  /** What they may hold, in bytes. */
  readonly limit: number;
  readonly #coming = new Set<HeldBody>();
  /** What is held of all bodies of each client, in bytes. */
  readonly #ofClient = new Map<string, number>();
  /** Those that wait to be decompressed, by client. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** What was decompressed lately of each client, in bytes. */
  readonly #decompressed = new Map<string, number>();
  #forgetAt = 0;
  #held = 0;
  #decompressing = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Counts bytes of a body; those beyond the limit have others refused, perhaps this one. */
  hold(body: HeldBody, bytes: number): void {
    this.#coming.add(body);
    body.bytes += bytes;
    this.#count(body.client, bytes);
    if (this.#held > this.limit) this.#makeRoom();
  }

  /** Ends the count of a body, once it is there or given up. */
  release(body: HeldBody): void {
    if (this.#coming.delete(body)) this.#count(body.client, -body.bytes);
  }

  /**
   * Counts a body that has come in until its turn, so that those that wait and those that come in have one bound.
   *
   * @param bytes what is held of it
   * @throws what `refusal` makes, where it has to give way
   */
  holdUntil(turn: Promise<void>, client: string, bytes: number, refusal: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const body: HeldBody = { client, bytes: 0, refuse: () => reject(refusal()) };
      void turn.then(() => {
        this.release(body);
        resolve();
      });
      this.hold(body, bytes);
    });
  }

  #count(client: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#ofClient.get(client) ?? 0) + bytes;
    if (held > 0) this.#ofClient.set(client, held);
    else this.#ofClient.delete(client);
  }

  /**
   * Decompresses a body in its turn: the next is one of the client of which the least was decompressed lately, so that who
   * sends one now and then waits for nobody who sends many, from however many addresses. One that waits counts with what it
   * has and gives way as one that comes in, and is refused after two seconds.
   *
   * @param waiting whose it is, what is held of it meanwhile, and what it is told where it has to give way
   * @throws what `refusal` makes, or `work` raises
   */
  async decompress(waiting: WaitingBody, work: () => Promise<Buffer>): Promise<Buffer> {
    if (this.#decompressing < decompressedAtOnce) this.#decompressing += 1;
    else await this.#turn(waiting);
    let bytes = waiting.mostBytes;
    try {
      const body = await work();
      bytes = body.length;
      return body;
    } finally {
      this.#countDecompressed(waiting.client, bytes);
      // The place goes to the next in line, or becomes free.
      const begin = this.#next();
      if (begin) begin();
      else this.#decompressing -= 1;
    }
  }

  #countDecompressed(client: string, bytes: number): void {
    const now = performance.now();
    if (now >= this.#forgetAt || this.#decompressed.size >= mostClients) {
      this.#decompressed.clear();
      this.#forgetAt = now + recentlyMs;
    }
    this.#decompressed.set(client, (this.#decompressed.get(client) ?? 0) + bytes);
  }

  /** The first body of the client of which the least was decompressed lately; among equals, of the one that has waited longest. */
  #next(): (() => void) | undefined {
    let next: Set<() => void> | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [client, bodies] of this.#waiting) {
      const used = this.#decompressed.get(client) ?? 0;
      if (used >= least) continue;
      least = used;
      next = bodies;
    }
    const [begin] = next ?? [];
    return begin;
  }

  #turn({ client, bytes, refusal }: WaitingBody): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(late);
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
        // At once, so that clients of which as much was decompressed take turns.
        this.#countDecompressed(client, bytes);
        resolve();
      };
      const late = setTimeout(() => this.#giveUp(body), longestWaitMs).unref();
      this.#waiting.set(client, (this.#waiting.get(client) ?? new Set()).add(begin));
      this.hold(body, bytes);
    });
  }

  #makeRoom(): void {
    while (this.#held > this.limit) {
      const body = this.#oldestOf(this.#largestClient());
      if (body === undefined) return;
      this.#giveUp(body);
    }
  }

  #giveUp(body: HeldBody): void {
    this.release(body);
    body.refuse();
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
