import { beforeEach, describe, expect, it } from 'vitest';
import { StandingWait } from '../../../src/chassis/admission/standing-wait.ts';

let now: number;
let waitMs: number;
let waits: StandingWait;

beforeEach(() => {
  now = 100_000;
  waitMs = 0;
  waits = new StandingWait([{ at: () => waitMs }, { at: () => 0 }], 500);
  for (let request = 0; request < 1000; request += 1) waits.look(now);
});

/** Requests come every 10 ms for a while; the wait follows `of`, which gets the milliseconds since the beginning. */
function pass(ms: number, of: (at: number) => number): void {
  for (let at = 0; at < ms; at += 10) {
    waitMs = of(at);
    waits.look(now);
    now += 10;
  }
}

describe('StandingWait', () => {
  it('sums the waits of all queues', () => {
    const sum = new StandingWait([{ at: () => 30 }, { at: () => 12 }], 500);
    sum.look(now);
    expect(sum.currentMs).toBe(42);
  });

  it('takes a wait that is never short for overload, within the time of the target', () => {
    pass(510, () => 501);
    expect([waits.overloaded, waits.standingMs]).toEqual([true, 501]);
  });

  it('takes no wait up to the target for overload, however long it stands', () => {
    pass(5000, () => 500);
    expect([waits.overloaded, waits.standingMs]).toEqual([false, 500]);
  });

  it('takes no burst for overload: a wait that is short once in half the time of the target', () => {
    pass(5000, (at) => (at % 240 === 0 ? 0 : 3000));
    expect(waits.overloaded).toBe(false);
  });

  it('stays overloaded while the wait swings about the target, and ends with the queue', () => {
    pass(600, () => 600);
    pass(1000, (at) => (at % 40 === 0 ? 200 : 520));
    expect(waits.overloaded).toBe(true);
    pass(600, () => 100);
    expect(waits.overloaded).toBe(false);
  });

  it('forgets what it saw when nobody came for a second', () => {
    pass(600, () => 600);
    now += 1001;
    waits.look(now);
    expect([waits.overloaded, waits.standingMs]).toEqual([false, 0]);
  });

  it('takes no wait of the first thousand requests for overload, nor for what keeps a deadline from being met', () => {
    waits = new StandingWait([{ at: () => waitMs }], 500);
    for (let request = 0; request < 950; request += 1) waits.look(now);
    pass(500, () => 3000);
    expect([waits.overloaded, waits.standingMs, waits.currentMs]).toEqual([false, 0, 3000]);
    pass(500, () => 3000);
    expect([waits.overloaded, waits.standingMs]).toEqual([true, 3000]);
  });

  it('takes what stands for two seconds for overload from the first request on', () => {
    waits = new StandingWait([{ at: () => waitMs }], 500);
    pass(1990, () => 600);
    expect(waits.overloaded).toBe(false);
    pass(300, () => 600);
    expect([waits.overloaded, waits.standingMs]).toEqual([true, 600]);
    pass(500, () => 300);
    expect(waits.overloaded).toBe(true);
  });

  it('tells its wait for a second after the last request, then 0', () => {
    pass(20, () => 600);
    expect([waits.asOf(now), waits.asOf(now + 1000)]).toEqual([600, 0]);
  });
});
