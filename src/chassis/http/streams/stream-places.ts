/** In characters a second: what is slower has no right to its place while others wait for one. A phone on a poor network takes more. */
const leastPace = 16_384;
const windowMs = 10_000;

/** A stream under way, which may have to give its place to another. */
export interface PlacedStream {
  /** Ends it at once. */
  cut(): void;
  /** How fast its client takes it, in characters a second; Infinity where that is not known. */
  pace(): number;
}

/**
 * A bounded number of places for streams. When all are taken, one of the address with the most gives way to one of an
 * address with fewer, the slowest first. Where the address would then have as many as the other, only a slow one gives way.
 */
export class StreamPlaces {
  readonly #total: number;
  readonly #streams = new Map<PlacedStream, string>();

  constructor(total: number) {
    this.#total = total;
  }

  /**
   * Takes a place.
   *
   * @param most how many may be taken with it; default: all
   * @returns leaves it; undefined where none is free and none gives way
   */
  enter(address: string, stream: PlacedStream, most = this.#total): (() => void) | undefined {
    if (this.#streams.size >= most) {
      const displaced = this.#displaceableBy(address);
      if (displaced === undefined) return undefined;
      this.#streams.delete(displaced);
      displaced.cut();
    }
    this.#streams.set(stream, address);
    return () => void this.#streams.delete(stream);
  }

  #displaceableBy(address: string): PlacedStream | undefined {
    const counts = new Map<string, number>();
    for (const holder of this.#streams.values()) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    const own = counts.get(address) ?? 0;
    let best: { stream: PlacedStream; count: number; pace: number } | undefined;
    for (const [stream, holder] of this.#streams) {
      const count = counts.get(holder) as number;
      if (count <= own || count < (best?.count ?? 0)) continue;
      const pace = stream.pace();
      if (count === own + 1 && pace >= leastPace) continue;
      if (best === undefined || count > best.count || pace < best.pace) best = { stream, count, pace };
    }
    return best?.stream;
  }
}

/**
 * How fast a client takes what it is handed, by the last five to ten seconds in which it was waited for: a source that takes
 * its time does not make its client slow.
 */
export class ClientPace {
  #taken = 0;
  #waitedMs = 0;
  #handedAt: number | undefined;

  /** In characters a second; Infinity before five seconds of waiting. */
  get perSecond(): number {
    const waited = this.#waitedMs + (this.#handedAt === undefined ? 0 : performance.now() - this.#handedAt);
    return waited < windowMs / 2 ? Number.POSITIVE_INFINITY : (this.#taken / waited) * 1000;
  }

  /** A piece is handed to the client. */
  handed(): void {
    this.#handedAt = performance.now();
  }

  /** The client has taken the piece. */
  took({ length }: string): void {
    this.#taken += length;
    this.#waitedMs += performance.now() - (this.#handedAt as number);
    this.#handedAt = undefined;
    // What was long ago counts less and less.
    for (; this.#waitedMs > windowMs; this.#waitedMs /= 2) this.#taken /= 2;
  }
}
