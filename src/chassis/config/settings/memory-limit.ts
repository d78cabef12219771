import process from 'node:process';
import { getHeapStatistics } from 'node:v8';

/** The heap has about this share of what a process takes. */
const heapShare = 0.75;
const budgetShare = 1 / 8;
const mostBudgetBytes = 67_108_864;
const connectionBytes = 131_072;
const mostConnections = 5000;
/** What a result of the database may bring: its answer takes several times as much while it is made. */
const readShare = 1 / 16;
const rowStreamBytes = 2_097_152;
/** What a record takes while an answer is made of it: as an object, with its dates, as text and as bytes. */
const recordBytes = 2560;
/** What a form with a file holds while it comes in: its texts, its parser, and what is on its way to the disk. Measured, on Node 24. */
const formBytes = 524_288;
const fileBytes = 262_144;

/** The memory that this process may take, in bytes: the smaller of its container's limit and what its heap limit implies. */
export function memoryLimit(): number {
  const limit = getHeapStatistics().heap_size_limit / heapShare;
  const container = process.constrainedMemory();
  return container > 0 ? Math.min(container, limit) : limit;
}

/** How many connections a process may have open, so that their worst case leaves memory for its work. */
export function connectionsIn(memoryBytes: number): number {
  return Math.min(mostConnections, Math.ceil(memoryBytes / connectionBytes));
}

/** How many answers of rows a process may stream at once: each holds what its source has read. */
export function rowStreamsIn(memoryBytes: number): number {
  return Math.ceil(memoryBytes / rowStreamBytes);
}

/** How many records answers may hold at once while they are made, and what each is taken to need. */
export function recordRoomIn(memoryBytes: number): { records: number; recordBytes: number } {
  return { records: Math.ceil((memoryBytes * budgetShare) / recordBytes), recordBytes };
}

/** How many bytes a result of the database may have, and all large ones that come in at the same time. */
export function readBytesIn(memoryBytes: number): number {
  return Math.ceil(memoryBytes * readShare);
}

/** How many forms with a file may come in at the same time, all together. */
export function formsIn(memoryBytes: number): number {
  return Math.ceil(budgetIn(memoryBytes) / formBytes);
}

/** How many files may be sent at the same time: of each a piece is read ahead, another waits for its client, and some are garbage. */
export function filesIn(memoryBytes: number): number {
  return Math.ceil(budgetIn(memoryBytes) / fileBytes);
}

/** How many bytes a process may hold for clients that send slowly, and the same for clients that read slowly. */
export function budgetIn(memoryBytes: number): number {
  return Math.min(mostBudgetBytes, Math.ceil(memoryBytes * budgetShare));
}
