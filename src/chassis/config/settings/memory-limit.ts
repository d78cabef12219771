import process from 'node:process';
import { getHeapStatistics } from 'node:v8';

/** The heap has about this share of what a process takes. */
const heapShare = 0.75;
const budgetShare = 1 / 8;
const mostBudgetBytes = 67_108_864;
const connectionBytes = 131_072;
const mostConnections = 5000;

/** The memory that this process may take, in bytes: the limit of its container, or what goes with the limit of its heap. */
export function memoryLimit(): number {
  const limit = getHeapStatistics().heap_size_limit / heapShare;
  const container = process.constrainedMemory();
  return container > 0 ? Math.min(container, limit) : limit;
}

/** Connections that a process with so much memory may have open, so that what they take at worst leaves room for the work. */
export function connectionsIn(memoryBytes: number): number {
  return Math.min(mostConnections, Math.ceil(memoryBytes / connectionBytes));
}

/** What a process with so much memory may hold of what clients send slowly, and as much of what they read slowly; in bytes. */
export function budgetIn(memoryBytes: number): number {
  return Math.min(mostBudgetBytes, Math.ceil(memoryBytes * budgetShare));
}
