import { createHash } from 'node:crypto';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { InsufficientStorageException, PayloadTooLargeException } from '../errors/exceptions.ts';
import { emptyWhenMissing, isAbandoned, removeFile } from './upload-storage.ts';

/** How much uploads may take, in bytes. */
export interface UploadQuota {
  /** The files of one owner together. */
  perOwner: number;
  /** All files of the directory together. */
  total: number;
  /** Left free on the disk of the directory. */
  minimumFree: number;
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
/** For so long the directory is taken for what it was when it was read last, */
const staleMs = 5_000;
/** and nobody is refused because of an older state than this. */
const staleForRefusalMs = 500;
const statsAtOnce = 32;

/** What an owner's files begin with; nobody can tell the owner from it who does not know it. */
export function ownerKey(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, keyLength);
}

/**
 * Counts what uploads take. The directory is the truth: it is read again every five seconds while uploads come, and before
 * anybody is refused, so that files which were replaced, or removed by anyone, count no more. Files on their way count
 * with all that they may become. Within one process no quota is ever passed; replicas on one volume see each other's files
 * after five seconds at most, and the free space of the disk at once.
 */
export class UploadUsage {
  readonly #directory: string;
  readonly #quota: UploadQuota;
  readonly #reserved = new Set<{ key: string; bytes: number }>();
  #sizes = new Map<string, number>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(directory: string, quota: UploadQuota) {
    this.#directory = directory;
    this.#quota = quota;
  }

  /**
   * Keeps room for a file of at most `bytes`.
   *
   * @throws PayloadTooLargeException when the owner has no more room; InsufficientStorageException when nobody has
   */
  async reserve(owner: string, bytes: number): Promise<Reservation> {
    const room = { key: ownerKey(owner), bytes };
    this.#reserved.add(room);
    try {
      await this.#check(room.key);
    } catch (refusal) {
      this.#reserved.delete(room);
      throw refusal;
    }
    return {
      ownerKey: room.key,
      store: (name, size) => {
        if (this.#reserved.delete(room)) this.#sizes.set(name, size);
      },
      release: () => {
        this.#reserved.delete(room);
      },
    };
  }

  /** Room is kept before it is looked for, so that of two who ask at once both see each other. */
  async #check(key: string): Promise<void> {
    await this.#readOlderThan(staleMs);
    if (this.#refusal(key)) await this.#readOlderThan(staleForRefusalMs);
    const refusal = this.#refusal(key) ?? (await this.#refusalOfDisk());
    if (refusal) throw refusal;
  }

  #refusal(key: string): Error | undefined {
    const { perOwner, total } = this.#quota;
    if (this.#taken((name) => name.startsWith(key), key) > perOwner) {
      return new PayloadTooLargeException(`Your uploads may take ${perOwner} bytes together; remove one first`);
    }
    if (this.#taken(() => true) <= total) return undefined;
    return new InsufficientStorageException(`Uploads take ${total} bytes together at most (UPLOAD_TOTAL_BYTES)`);
  }

  async #refusalOfDisk(): Promise<Error | undefined> {
    const disk = await statfs(this.#directory).catch(emptyWhenMissing);
    if (!('bavail' in disk)) return undefined;
    const free = disk.bavail * disk.bsize - this.#coming();
    if (free >= this.#quota.minimumFree) return undefined;
    return new InsufficientStorageException('The disk of uploads has no room left (UPLOAD_MIN_FREE_BYTES)');
  }

  #taken(isCounted: (name: string) => boolean, key?: string): number {
    let bytes = this.#coming(key);
    for (const [name, size] of this.#sizes) if (isCounted(name)) bytes += size;
    return bytes;
  }

  #coming(key?: string): number {
    let bytes = 0;
    for (const room of this.#reserved) if (key === undefined || room.key === key) bytes += room.bytes;
    return bytes;
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
    if (isAbandoned(name, file.mtimeMs)) return removeFile(path);
    if (!name.startsWith('.')) sizes.set(name, file.size);
  }
}
