import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const pageBytes = 4096;

/**
 * The memory that only this process has, in bytes: what the limit of a container ends it for. The files that it has mapped,
 * such as Node's own, are resident too, and the kernel takes them back when memory is short. Where there is no /proc, all
 * that is resident.
 */
export function privateMemory(): number {
  try {
    const [, resident, shared] = readFileSync('/proc/self/statm', 'latin1').split(' ');
    return (Number(resident) - Number(shared)) * pageBytes;
  } catch {
    return process.memoryUsage.rss();
  }
}

let collect: ((how: object) => void) | undefined;

/**
 * Has V8 collect garbage and give back what that frees: by itself it does so when its heap is full, whatever else the
 * process holds. Takes a fifth of a second for a heap of 60 MB, on Node 24.
 */
export function collectGarbage(): void {
  // A collection of the regular flavor keeps the pages of the heap.
  collectAs('last-resort');
}

/** Has V8 collect garbage as it does by itself, which frees large texts and bytes and takes a third of the time. */
export function sweepGarbage(): void {
  collectAs('regular');
}

function collectAs(flavor: 'last-resort' | 'regular'): void {
  if (collect === undefined) {
    // Contexts that are made from now on have it.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as (how: object) => void;
  }
  collect({ type: 'major', execution: 'sync', flavor });
}
