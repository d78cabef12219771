import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { currentClientKey, stopAbandoned } from '../context/request-context.ts';
import { InsufficientStorageException, PayloadTooLargeException } from '../errors/exceptions.ts';
import { type AskedRoom, LentRoom, type Reservation, type Room } from './lent-room.ts';

/** How much uploads may take, in bytes. */
export interface UploadQuota {
  /** The files of one owner together. */
  perOwner: number;
  /** All files of the place together. */
  total: number;
  /** Left free on the disk that files come in by. */
  minimumFree: number;
}

/** What is known of the files of one place, which others may change. */
export interface Ledger {
  /** Asks the place again, unless what is known of these files is younger than `staleMs`. */
  refresh(key: string, staleMs: number): Promise<void>;
  /** How many bytes files take whose names begin with a key; with all of them by an empty one. */
  stored(key: string): number;
  /** Notes a file that is stored now. */
  add(name: string, size: number): void;
  /** Free bytes of the disk that files come in by. */
  free(): Promise<number>;
}

/** Why there is no room. */
interface Refusal {
  readonly error: Error;
  /** Whether the end of other uploads changes nothing. */
  readonly isFinal: boolean;
  /** Whose end would change it, and what waits for that; undefined where it is the owner's room that is taken. */
  readonly of?: LentRoom;
}

interface UploadUsageOptions {
  /** How long a file waits for the end of others, in milliseconds. Default 5,000. */
  readonly waitMs?: number;
  /** Has a file on its way give way, while another waits for the room of all. Default: none does. */
  readonly makeRoom?: ((asked: AskedRoom) => void) | undefined;
  /** What is lent of the disk that files come in by, where those of other places do too. Default: they do not. */
  readonly disk?: LentRoom;
}

const keyLength = 16;
/** How long the last reading of the place is trusted, */
const staleMs = 5_000;
/** and nobody is refused because of an older state than this. */
const staleForRefusalMs = 500;
/** After this time a file that waits has another give way, and after as long again the next. */
const makeRoomEveryMs = 500;

/** What an owner's files begin with; nobody can tell the owner from it who does not know it. */
function ownerKey(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, keyLength);
}

/**
 * Counts what uploads take. The place is the truth: it is asked again every five seconds while uploads come, and before
 * anybody is refused, so that files which were replaced, or removed by anyone, count no more. Files on their way count
 * with all that they may become; one that would fit without them waits for their end, and has some give way: see
 * `ComingForms.makeRoom`. What becomes free is for the addresses that have the least of it. Within one process no quota is
 * ever passed; replicas that share a place see each other's files after five seconds at most, and the free space of the
 * disk at once.
 */
export class UploadUsage {
  readonly #ledger: Ledger;
  readonly #quota: UploadQuota;
  readonly #waitMs: number;
  readonly #makeRoom: UploadUsageOptions['makeRoom'];
  /** What is lent to files that will be in this place, */
  readonly #own = new LentRoom();
  /** and to all that come in by its disk. */
  readonly #disk: LentRoom;
  /** A file on its way has room of both. */
  readonly #both: readonly LentRoom[];

  constructor(
    ledger: Ledger,
    quota: UploadQuota,
    { waitMs = 5_000, makeRoom, disk = new LentRoom() }: UploadUsageOptions = {},
  ) {
    this.#disk = disk;
    this.#both = [this.#own, disk];
    this.#ledger = ledger;
    this.#quota = quota;
    this.#waitMs = waitMs;
    this.#makeRoom = makeRoom;
  }

  /**
   * Keeps room for a file of at most `bytes`.
   *
   * @throws PayloadTooLargeException when the owner has no more room; InsufficientStorageException when nobody has; what
   * `stopAbandoned` raises where its client has gone
   */
  async reserve(owner: string, bytes: number): Promise<Reservation> {
    const room = this.#roomFor(ownerKey(owner), bytes);
    try {
      await this.#wait(room);
      return room;
    } finally {
      for (const shared of this.#both) shared.wait(room, false);
    }
  }

  #roomFor(key: string, bytes: number): Room {
    const room = {
      ownerKey: key,
      bytes,
      client: currentClientKey(),
      store: (name: string, size: number) => {
        if (!this.#own.lent.has(room)) return;
        this.#ledger.add(name, size);
        room.release();
      },
      release: () => {
        for (const shared of this.#both) shared.giveBack(room);
      },
    };
    return room;
  }

  async #wait(room: Room): Promise<void> {
    const deadline = performance.now() + this.#waitMs;
    let nextAt = performance.now() + makeRoomEveryMs;
    for (;;) {
      // Whose client has gone would have others give way for nothing.
      stopAbandoned();
      const freed = this.#disk.freed;
      const refusal = await this.#take(room);
      if (!refusal) return;
      const left = deadline - performance.now();
      if (refusal.isFinal || left <= 0) throw refusal.error;
      for (const shared of this.#both) shared.wait(room, shared === refusal.of);
      if (performance.now() >= nextAt) {
        nextAt += makeRoomEveryMs;
        if (refusal.of) this.#makeRoom?.(refusal.of.asked(room));
      }
      const untilNext = Math.max(1, nextAt - performance.now());
      await Promise.race([freed, wait(Math.min(left, untilNext), undefined, { ref: false })]);
    }
  }

  /** Nothing else runs between the last look and the taking, so that two who ask at once never see each other's attempt. */
  async #take(room: Room): Promise<Refusal | undefined> {
    await this.#ledger.refresh(room.ownerKey, staleMs);
    if (this.#refusal(room)) await this.#ledger.refresh(room.ownerKey, staleForRefusalMs);
    const before = [...this.#disk.lent];
    const free = await this.#ledger.free();
    // What was stored since then may be on the disk already or not.
    const coming = new Set([...before, ...this.#disk.lent]);
    const refusal = this.#refusal(room) ?? this.#refusalOfDisk(room, free, coming) ?? this.#refusalByTurn(room);
    if (!refusal) for (const shared of this.#both) shared.lend(room);
    return refusal;
  }

  #refusal({ ownerKey, bytes }: Room): Refusal | undefined {
    const { perOwner, total } = this.#quota;
    const ofOwner = this.#ledger.stored(ownerKey) + bytes;
    if (ofOwner + this.#coming(ownerKey) > perOwner) {
      const error = new PayloadTooLargeException(`Your uploads may take ${perOwner} bytes together; remove one first`);
      return { error, isFinal: ofOwner > perOwner };
    }
    const ofAll = this.#ledger.stored('') + bytes;
    if (ofAll + this.#coming('') <= total) return undefined;
    const message = `Uploads take ${total} bytes together at most (UPLOAD_TOTAL_BYTES)`;
    return { error: new InsufficientStorageException(message), isFinal: ofAll > total, of: this.#own };
  }

  #refusalOfDisk({ bytes }: Room, free: number, coming: Iterable<Room>): Refusal | undefined {
    const left = free - bytes;
    const most = bytesOf(coming);
    if (left - most >= this.#quota.minimumFree) return undefined;
    const message = 'The disk of uploads has no room left (UPLOAD_MIN_FREE_BYTES)';
    // They may have written all of it, which their end gives back, that of the latest a moment later.
    const isFinal = left + most + bytesOf(this.#disk.ending) < this.#quota.minimumFree;
    return { error: new InsufficientStorageException(message), isFinal, of: this.#disk };
  }

  /** There is room, and others are to have it. */
  #refusalByTurn(room: Room): Refusal | undefined {
    const of = this.#both.find((shared) => shared.isBehind(room));
    if (!of) return undefined;
    const error = new InsufficientStorageException('Other uploads wait for the room that is left');
    return { error, isFinal: false, of };
  }

  #coming(key: string): number {
    return bytesOf([...this.#own.lent].filter((room) => room.ownerKey.startsWith(key)));
  }
}

function bytesOf(rooms: Iterable<Room>): number {
  let bytes = 0;
  for (const room of rooms) bytes += room.bytes;
  return bytes;
}
