import { setTimeout as wait } from 'node:timers/promises';
import { runOutsideRequest } from '../../context/request-context.ts';
import { freeBytes, removeLeftBehind } from '../files/directory-ledger.ts';
import type { Ledger } from '../upload-usage.ts';
import type { Bucket } from './bucket.ts';

/** The files of one owner. */
interface Owned {
  sizes: Map<string, number>;
  readAt: number;
}

/** How long the sum of all files is trusted, and how long when somebody would be refused because of it. */
const wholeStaleMs = 60_000;
const wholeStaleForRefusalMs = 10_000;
/** How long a file waits for that sum. What is counted until then holds. */
const longestWaitMs = 2_000;
const ownersKept = 1_000;

/**
 * The files of a folder in a bucket. Those of an owner are listed each time that they have to be known, those of all once a
 * minute at most, because a thousand of them cost a request.
 */
export class BucketLedger implements Ledger {
  readonly #bucket: Bucket;
  readonly #folder: string;
  readonly #incomingDirectory: string;
  readonly #owners = new Map<string, Owned>();
  #total = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  /** The listing of all files that is under way: what it has counted, and what was stored since it began. */
  #listing: { bytes: number; added: Map<string, number>; ended: Promise<void> } | undefined;

  /**
   * @param folder that keys begin with, such as `private/`
   * @param incomingDirectory where files are written before they are stored
   */
  constructor(bucket: Bucket, folder: string, incomingDirectory: string) {
    this.#bucket = bucket;
    this.#folder = folder;
    this.#incomingDirectory = incomingDirectory;
  }

  stored(key: string): number {
    if (key === '') return Math.max(this.#total, this.#listed());
    return sumOf(this.#owners.get(key)?.sizes);
  }

  add(name: string, size: number): void {
    this.#owners.get(name.slice(0, name.indexOf('-')))?.sizes.set(name, size);
    this.#listing?.added.set(name, size);
    this.#total += size;
  }

  free(): Promise<number> {
    return freeBytes(this.#incomingDirectory);
  }

  async refresh(key: string, staleMs: number): Promise<void> {
    const isRefusal = staleMs < 1_000;
    await Promise.all([this.#refreshOwner(key, staleMs), this.#refreshWhole(isRefusal)]);
  }

  async #refreshOwner(key: string, staleMs: number): Promise<void> {
    const before = this.#owners.get(key);
    const readAt = performance.now();
    if (before && readAt - before.readAt < staleMs) return;
    const known = new Set(before?.sizes.keys());
    const sizes = new Map<string, number>();
    for await (const page of this.#bucket.list(`${this.#folder}${key}-`)) {
      for (const { key: path, size } of page) sizes.set(path.slice(this.#folder.length), size);
    }
    // What was stored meanwhile may be missing in what was listed.
    for (const [name, size] of this.#owners.get(key)?.sizes ?? []) if (!known.has(name)) sizes.set(name, size);
    this.#owners.delete(key);
    this.#owners.set(key, { sizes, readAt });
    if (this.#owners.size > ownersKept) this.#owners.delete(this.#owners.keys().next().value ?? '');
  }

  async #refreshWhole(isRefusal: boolean): Promise<void> {
    const stale = isRefusal ? wholeStaleForRefusalMs : wholeStaleMs;
    if (!this.#listing) {
      if (performance.now() - this.#readAt < stale) return;
      const listing = { bytes: 0, added: new Map<string, number>(), ended: Promise.resolve() };
      this.#listing = listing;
      listing.ended = runOutsideRequest(() => this.#listWhole(listing));
      // Those below who still wait get its error; where nobody does, the next caller lists again.
      listing.ended.catch(() => undefined);
    }
    await Promise.race([this.#listing.ended, wait(longestWaitMs, undefined, { ref: false })]);
  }

  async #listWhole(listing: { bytes: number; added: Map<string, number> }): Promise<void> {
    const readAt = performance.now();
    try {
      await removeLeftBehind(this.#incomingDirectory);
      for await (const page of this.#bucket.list(this.#folder)) {
        for (const { key, size } of page) if (!listing.added.has(key.slice(this.#folder.length))) listing.bytes += size;
      }
      this.#total = this.#listed();
      this.#readAt = readAt;
    } finally {
      this.#listing = undefined;
    }
  }

  #listed(): number {
    return this.#listing ? this.#listing.bytes + sumOf(this.#listing.added) : 0;
  }
}

function sumOf(sizes: ReadonlyMap<string, number> = new Map()): number {
  let bytes = 0;
  for (const size of sizes.values()) bytes += size;
  return bytes;
}
