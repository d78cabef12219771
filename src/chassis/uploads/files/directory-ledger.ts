import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { emptyWhenMissing, isLeftBehind, removeFile } from '../upload-storage.ts';
import type { Ledger } from '../upload-usage.ts';

const statsAtOnce = 32;

/** The files of a directory, on which several replicas may store. */
export class DirectoryLedger implements Ledger {
  readonly #directory: string;
  readonly #incoming: string;
  #sizes = new Map<string, number>();
  /** Those that were stored since the latest reading began. */
  #added = new Map<string, number>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** @param incoming where files come in that will be in this directory. Default: there too */
  constructor(directory: string, incoming = directory) {
    this.#directory = directory;
    this.#incoming = incoming;
  }

  stored(key: string): number {
    let bytes = 0;
    for (const [name, size] of this.#sizes) if (name.startsWith(key)) bytes += size;
    return bytes;
  }

  add(name: string, size: number): void {
    this.#sizes.set(name, size);
    this.#added.set(name, size);
  }

  free(): Promise<number> {
    return freeBytes(this.#directory);
  }

  async refresh(_key: string, staleMs: number): Promise<void> {
    if (performance.now() - this.#readAt < staleMs) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** Files never change once they have a name, so the size of each is asked for once. */
  async #read(): Promise<void> {
    const startedAt = performance.now();
    const known = this.#sizes;
    this.#added = new Map();
    if (this.#incoming !== this.#directory) await removeLeftBehind(this.#incoming);
    const names = await readdir(this.#directory).catch(emptyWhenMissing);
    const sizes = new Map<string, number>();
    for (const name of names) if (known.has(name)) sizes.set(name, known.get(name) ?? 0);
    const fresh = names.filter((name) => !known.has(name));
    for (let at = 0; at < fresh.length; at += statsAtOnce) {
      await Promise.all(fresh.slice(at, at + statsAtOnce).map((name) => this.#measure(name, sizes)));
    }
    // What was stored meanwhile may be missing in what was read.
    for (const [name, size] of this.#added) sizes.set(name, size);
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

/** Free bytes of the disk that a directory is on, or will be on once it is made. */
export async function freeBytes(directory: string): Promise<number> {
  const disk = await statfs(directory).catch(emptyWhenMissing);
  return 'bavail' in disk ? disk.bavail * disk.bsize : freeBytes(dirname(resolve(directory)));
}

/** Removes what processes that were killed left half written. */
export async function removeLeftBehind(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(emptyWhenMissing)) {
    if (!name.startsWith('.')) continue;
    const path = join(directory, name);
    // Another process may be removing it.
    const file = await stat(path).catch(() => undefined);
    if (file && isLeftBehind(name, file.mtimeMs)) await removeFile(path);
  }
}
