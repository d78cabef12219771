/** Room that is kept for a file on its way. */
export interface Reservation {
  /** The key of its owner, with which the name of the file has to begin. */
  readonly ownerKey: string;
  /** What the file may take at most. */
  readonly bytes: number;
  /** Counts the file, which is stored now, in the place of the room. */
  store(name: string, size: number): void;
  /** Gives the room back; does nothing once the file is stored. */
  release(): void;
}

/** Room for a file on its way, which a client has or waits for. */
export interface Room extends Reservation {
  /** The address of its client, as `clientKey` gives it: many accounts of one address have no more than one. */
  readonly client: string;
}

/** Room that a client waits for, and others have. */
export interface AskedRoom {
  readonly client: string;
  /** What this client would have then, together with what it has asked for before; in bytes. */
  readonly wouldHave: number;
  /** The room whose end would help. */
  readonly lent: ReadonlySet<Reservation>;
  /** How much of that each client has, in bytes. */
  readonly held: ReadonlyMap<string, number>;
}

/** By then a file that came to nothing is closed and removed. */
const endingMs = 1_000;

/** Room that is lent to files on their way until they are stored. */
export class LentRoom {
  readonly #lent = new Set<Room>();
  readonly #ending = new Set<Room>();
  /** What waits for room that is lent, in the order in which it came. */
  readonly #waiting = new Set<Room>();
  #freed = Promise.withResolvers<void>();

  /** Resolves when some is given back. */
  get freed(): Promise<void> {
    return this.#freed.promise;
  }

  get lent(): ReadonlySet<Room> {
    return this.#lent;
  }

  /** What was given back a moment ago, and may still be on the disk. */
  get ending(): ReadonlySet<Room> {
    return this.#ending;
  }

  lend(room: Room): void {
    this.#lent.add(room);
  }

  giveBack(room: Room): void {
    if (!this.#lent.delete(room)) return;
    this.#ending.add(room);
    setTimeout(() => this.#ending.delete(room), endingMs).unref();
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  /** Notes that something waits, or waits no more. */
  wait(room: Room, waits: boolean): void {
    if (waits) this.#waiting.add(room);
    else this.#waiting.delete(room);
  }

  /**
   * Whether what is free is for another that waits: of an address that has less, or of one that has as much, if it came
   * before and asks for no more.
   */
  isBehind(room: Room): boolean {
    if (this.#waiting.size === 0) return false;
    const held = this.#held();
    const own = held.get(room.client) ?? 0;
    let isBefore = true;
    for (const other of this.#waiting) {
      if (other === room) isBefore = false;
      const has = held.get(other.client) ?? 0;
      if (has < own || (has === own && isBefore && other.bytes <= room.bytes)) return true;
    }
    return false;
  }

  /** What is asked of others for a file. */
  asked(room: Room): AskedRoom {
    const { client } = room;
    const held = this.#held();
    let wouldHave = (held.get(client) ?? 0) + room.bytes;
    for (const other of this.#waiting) {
      if (other === room) break;
      // Else each of many that wait would have another give way for itself.
      if (other.client === client) wouldHave += other.bytes;
    }
    return { client, wouldHave, lent: this.#lent, held };
  }

  #held(): Map<string, number> {
    const held = new Map<string, number>();
    for (const { client, bytes } of this.#lent) held.set(client, (held.get(client) ?? 0) + bytes);
    return held;
  }
}
