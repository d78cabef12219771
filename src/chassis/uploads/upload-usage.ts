import { createHash } from 'node:crypto';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { InsufficientStorageException, PayloadTooLargeException } from '../errors/exceptions.ts';
import { emptyWhenMissing, isLeftBehind, removeFile } from './upload-storage.ts';

/** How much uploads may take, in bytes. */
export interface UploadQuota {
  /** The files of one owner together. */
  perOwner: number;
  /** All files of the directory together. */
  total: number;
  /** Left free on the disk of the directory. */
  minimumFree: number;
}

/** What a file on its way may take, in bytes, and of whose quota. */
interface Room {
  readonly key: string;
  readonly bytes: number;
}

/** Why there is no room; final where the end of other uploads changes nothing. */
interface Refusal {
  readonly error: Error;
  readonly isFinal: boolean;
}

/** Room that is kept for a file on its way. */
export interface Reservation {
  /** The key of its owner, with which the name of the file has to begin. */
  readonly ownerKey: string;
  /** Counts the file, which is stored now, in the place of the room. */
  store(name: string, size: number): void;
  /** Gives the room back; does nothing once the file is stored. */
  release(): void;
}

const keyLength = 16;
/** How long the last reading of the directory is trusted, */
const staleMs = 5_000;
/** and nobody is refused because of an older state than this. */
const staleForRefusalMs = 500;
const statsAtOnce = 32;

/** What an owner's files begin with; nobody can tell the owner from it who does not know it. */
function ownerKey(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, keyLength);
}

/**
 * Counts what uploads take. The directory is the truth: it is read again every five seconds while uploads come, and before
 * anybody is refused, so that files which were replaced, or removed by anyone, count no more. Files on their way count
 * with all that they may become; one that would fit without them waits for their end. Within one process no quota is ever
 * passed; replicas on one volume see each other's files after five seconds at most, and the free space of the disk at once.
 */
export class UploadUsage {
  readonly #directory: string;
  readonly #quota: UploadQuota;
  readonly #waitMs: number;
  readonly #reserved = new Set<Room>();
  #sizes = new Map<string, number>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #freed = Promise.withResolvers<void>();

  /** @param waitMs how long a file waits for the end of others, in milliseconds */
  constructor(directory: string, quota: UploadQuota, waitMs = 5_000) {
    this.#directory = directory;
    this.#quota = quota;
    this.#waitMs = waitMs;
  }

  /**
   * Keeps room for a file of at most `bytes`.
   *
   * @throws PayloadTooLargeException when the owner has no more room; InsufficientStorageException when nobody has
   */
  async reserve(owner: string, bytes: number): Promise<Reservation> {
    const room = { key: ownerKey(owner), bytes };
    const deadline = performance.now() + this.#waitMs;
    for (;;) {
      const freed = this.#freed.promise;
      const refusal = await this.#take(room);
      if (!refusal) return this.#reservationOf(room);
      const left = deadline - performance.now();
      if (refusal.isFinal || left <= 0) throw refusal.error;
      await Promise.race([freed, wait(left, undefined, { ref: false })]);
    }
  }

  #reservationOf(room: Room): Reservation {
    return {
      ownerKey: room.key,
      store: (name, size) => {
        if (!this.#reserved.has(room)) return;
        this.#sizes.set(name, size);
        this.#giveBack(room);
      },
      release: () => this.#giveBack(room),
    };
  }

  #giveBack(room: Room): void {
    if (!this.#reserved.delete(room)) return;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  /** Nothing else runs between the last look and the taking, so that two who ask at once never see each other's attempt. */
  async #take(room: Room): Promise<Refusal | undefined> {
    await this.#readOlderThan(staleMs);
    if (this.#refusal(room)) await this.#readOlderThan(staleForRefusalMs);
    const before = [...this.#reserved];
    const disk = await statfs(this.#directory).catch(emptyWhenMissing);
    const free = 'bavail' in disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
    // What was stored since then may be on the disk already or not.
    const coming = new Set([...before, ...this.#reserved]);
    const refusal = this.#refusal(room) ?? this.#refusalOfDisk(room, free, coming);
    if (!refusal) this.#reserved.add(room);
    return refusal;
  }

  #refusal({ key, bytes }: Room): Refusal | undefined {
    const { perOwner, total } = this.#quota;
    const ofOwner = this.#stored(key) + bytes;
    if (ofOwner + this.#coming(key) > perOwner) {
      const error = new PayloadTooLargeException(`Your uploads may take ${perOwner} bytes together; remove one first`);
      return { error, isFinal: ofOwner > perOwner };
    }
    const ofAll = this.#stored('') + bytes;
    if (ofAll + this.#coming('') <= total) return undefined;
    const message = `Uploads take ${total} bytes together at most (UPLOAD_TOTAL_BYTES)`;
    return { error: new InsufficientStorageException(message), isFinal: ofAll > total };
  }

  #refusalOfDisk({ bytes }: Room, free: number, coming: Iterable<Room>): Refusal | undefined {
    const left = free - bytes;
    if (left - bytesOf(coming) >= this.#quota.minimumFree) return undefined;
    const message = 'The disk of uploads has no room left (UPLOAD_MIN_FREE_BYTES)';
    return { error: new InsufficientStorageException(message), isFinal: left < this.#quota.minimumFree };
  }

  /** @param key what the names of counted files begin with */
  #stored(key: string): number {
    let bytes = 0;
    for (const [name, size] of this.#sizes) if (name.startsWith(key)) bytes += size;
    return bytes;
  }

  #coming(key: string): number {
    return bytesOf([...this.#reserved].filter((room) => room.key.startsWith(key)));
  }

  async #readOlderThan(ms: number): Promise<void> {
    if (performance.now() - this.#readAt < ms) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** Files never change once they have a name, so the size of each is asked for once. */
  async #read(): Promise<void> {
    const startedAt = performance.now();
    const known = this.#sizes;
    const names = await readdir(this.#directory).catch(emptyWhenMissing);
    const sizes = new Map<string, number>();
    for (const name of names) if (known.has(name)) sizes.set(name, known.get(name) ?? 0);
    const fresh = names.filter((name) => !known.has(name));
    for (let at = 0; at < fresh.length; at += statsAtOnce) {
      await Promise.all(fresh.slice(at, at + statsAtOnce).map((name) => this.#measure(name, sizes)));
    }
    // What was stored meanwhile may be missing in what was read.
    for (const [name, size] of this.#sizes) if (!known.has(name)) sizes.set(name, size);
    this.#sizes = sizes;
    this.#readAt = startedAt;
  }

  /** What processes that were killed left half written goes; what is half written by this one is counted as reserved. */
  async #measure(name: string, sizes: Map<string, number>): Promise<void> {
    const path = join(this.#directory, name);
    // Another process may be removing it.
    const file = await stat(path).catch(() => undefined);
    if (!file?.isFile()) return;
    if (isLeftBehind(name, file.mtimeMs)) return removeFile(path);
    if (!name.startsWith('.')) sizes.set(name, file.size);
  }
}

function bytesOf(rooms: Iterable<Room>): number {
  let bytes = 0;
  for (const room of rooms) bytes += room.bytes;
  return bytes;
}
