import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WindowCounts } from '../../../src/chassis/admission/window-counts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('WindowCounts', () => {
  it('adds up the points of a key until its window ends, then begins anew', () => {
    const counts = new WindowCounts(10);
    expect(counts.consume('a', 1)).toEqual({ used: 1, resetMs: 10_000 });
    vi.advanceTimersByTime(4000);
    expect(counts.consume('a', 5)).toEqual({ used: 6, resetMs: 6000 });
    vi.advanceTimersByTime(6000);
    expect(counts.consume('a', 2)).toEqual({ used: 2, resetMs: 10_000 });
  });

  it('counts each key by itself', () => {
    const counts = new WindowCounts(10);
    counts.consume('a', 7);
    expect(counts.consume('b', 1).used).toBe(1);
  });

  it('lets go of keys whose window has ended, and of no others', () => {
    const counts = new WindowCounts(10);
    for (let index = 0; index < 1000; index += 1) counts.consume(`old ${index}`, 1);
    vi.advanceTimersByTime(5000);
    counts.consume('young', 1);
    counts.consume('old 0', 1);
    vi.advanceTimersByTime(5000);
    expect(counts.consume('new', 1).used).toBe(1);
    expect(counts.size).toBe(2);
    expect(counts.consume('young', 1).used).toBe(2);
  });
});
