import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import {
  budgetIn,
  connectionsIn,
  memoryLimit,
  rowStreamsIn,
} from '../../../../src/chassis/config/settings/memory-limit.ts';

const mib = 1_048_576;

describe('memoryLimit', () => {
  it('is never more than goes with the limit of the heap', () => {
    const heap = getHeapStatistics().heap_size_limit;
    expect(memoryLimit()).toBeGreaterThan(0);
    expect(memoryLimit()).toBeLessThanOrEqual(heap / 0.75);
  });
});

describe('what a process of some memory', () => {
  it.each([
    [128, 1024],
    [256, 2048],
    [512, 4096],
    [2048, 5000],
  ])('of %d MiB may have open is %d connections', (memory, connections) => {
    expect(connectionsIn(memory * mib)).toBe(connections);
  });

  it.each([
    [256, 32],
    [512, 64],
    [4096, 64],
  ])('of %d MiB may hold for slow clients is %d MiB', (memory, budget) => {
    expect(budgetIn(memory * mib)).toBe(budget * mib);
  });

  it('of 256 MiB may stream at once is 128 answers of rows', () => {
    expect(rowStreamsIn(256 * mib)).toBe(128);
  });
});
