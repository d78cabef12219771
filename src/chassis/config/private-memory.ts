import { openSync, readSync } from 'node:fs';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SocketMemory } from './socket-memory.ts';

const pageBytes = 4096;

/** What the kernel tells of this process, in a line of seven numbers. */
const line = Buffer.alloc(256);
let told: number | undefined;
/** Stands for a file where there is none. */
const nothing = -1;
let sockets: SocketMemory | undefined;

/**
 * The memory that only this process has, in bytes, with that of its sockets where it counts to the container: what the limit of
 * a container ends it for. The files that it has mapped, such as Node's own, are resident too, and the kernel takes them back
 * when memory is short. Where there is no /proc, all that is resident.
 */
export function privateMemory(): number {
  told ??= openTold();
  if (told === nothing) return process.memoryUsage.rss();
  const [, resident, shared] = line.toString('latin1', 0, readSync(told, line, 0, line.length, 0)).split(' ');
  sockets ??= new SocketMemory();
  return (Number(resident) - Number(shared)) * pageBytes + sockets.bytes;
}

/** Stays open: clients that open connections up to the limit on open files leave none to be opened. */
function openTold(): number {
  try {
    return openSync('/proc/self/statm', 'r');
  } catch {
    return nothing;
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
