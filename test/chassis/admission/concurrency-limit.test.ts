import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConcurrencyLimit } from '../../../src/chassis/admission/concurrency-limit.ts';

let asked: number;
let congested: boolean;
let limit: ConcurrencyLimit;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'], now: 100_000 });
  asked = 0;
  congested = false;
  limit = new ConcurrencyLimit({
    minimum: 10,
    maximum: 300,
    congested: () => {
      asked += 1;
      return congested;
    },
  });
});
afterEach(() => void vi.useRealTimers());

/** Lets in what is admitted of `count` requests. */
function offer(count: number): number {
  let admitted = 0;
  for (let index = 0; index < count; index += 1) {
    if (!limit.admits()) continue;
    limit.enter();
    admitted += 1;
  }
  return admitted;
}

/** Offers more than is admitted, each tenth of a second. */
function press(tenths: number): void {
  for (let index = 0; index < tenths; index += 1) {
    vi.advanceTimersByTime(101);
    offer(400);
    while (limit.atWork > limit.limit) limit.leave();
  }
}

/** Has work wait until the limit is at its minimum. */
function overload(): void {
  offer(200);
  congested = true;
  press(20);
}

describe('ConcurrencyLimit', () => {
  it('asks nothing of the service below the minimum', () => {
    congested = true;
    expect([offer(10), asked]).toEqual([10, 0]);
  });

  it('admits a burst of ten times the minimum, and more with time while nothing waits, up to the maximum', () => {
    expect(offer(200)).toBe(100);
    press(1);
    expect(limit.limit).toBe(120);
    press(10);
    expect([limit.limit, limit.atWork]).toEqual([300, 300]);
  });

  it('falls to the minimum within two seconds while work waits, and no lower', () => {
    overload();
    expect([limit.limit, limit.atWork]).toEqual([10, 10]);
    limit.leave();
    expect(offer(5)).toBe(1);
  });

  it('begins its fall at what is at work, however high it stood', () => {
    offer(100);
    press(20);
    expect(limit.limit).toBe(300);
    congested = true;
    press(3);
    while (limit.atWork > 20) limit.leave();
    vi.advanceTimersByTime(101);
    limit.admits();
    expect(limit.limit).toBe(16);
  });

  /** Two looks at a service that is well: some are at work, nothing waits, nobody is refused. */
  function rest(): void {
    congested = false;
    while (limit.atWork > 15) limit.leave();
    for (let look = 0; look < 2; look += 1) {
      vi.advanceTimersByTime(101);
      limit.admits();
    }
  }

  it('stays where it is while work waits for no longer than a pause of the process explains', () => {
    offer(100);
    for (let pause = 0; pause < 5; pause += 1) {
      const before = limit.limit;
      congested = true;
      press(3);
      expect(limit.limit).toBe(before);
      rest();
    }
    congested = true;
    press(4);
    expect(limit.limit).toBeLessThan(300);
  });

  it('falls when work waits most of the time, if not always', () => {
    offer(100);
    for (let round = 0; round < 20; round += 1) {
      congested = true;
      press(2);
      congested = false;
      press(1);
    }
    expect(limit.limit).toBeLessThan(30);
  });

  it('keeps what it rose to while all is well', () => {
    offer(100);
    press(20);
    rest();
    expect(limit.limit).toBe(300);
  });

  it('falls with patience again once it has risen, though some are still refused', () => {
    overload();
    congested = false;
    press(30);
    congested = true;
    press(1);
    expect(limit.limit).toBe(300);
  });

  it('is back where it began as soon as nothing waits and nobody need be refused, and falls with patience again', () => {
    overload();
    congested = false;
    vi.advanceTimersByTime(101);
    while (limit.atWork > 10) limit.leave();
    limit.admits();
    vi.advanceTimersByTime(101);
    expect([limit.admits(), limit.limit]).toEqual([true, 100]);
    congested = true;
    press(3);
    expect(limit.limit).toBe(100);
  });

  it('rises step by step while nothing waits and some are still refused', () => {
    overload();
    congested = false;
    press(19);
    expect(limit.limit).toBe(300);
  });

  it('forgets what it learnt once fewer than the minimum have come for a second', () => {
    overload();
    while (limit.atWork > 0) limit.leave();
    vi.advanceTimersByTime(1001);
    expect(offer(200)).toBe(100);
  });
});
