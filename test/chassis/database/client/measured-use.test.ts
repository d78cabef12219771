import { describe, expect, it } from 'vitest';
import { MeasuredCost } from '../../../../src/chassis/database/client/measured-use.ts';

const now = 100_000;

describe('MeasuredCost', () => {
  it('tells how many times its charge a request is likely to cost, whatever the words of each were', () => {
    const measured = new MeasuredCost();
    for (let request = 0; request < 20; request += 1) measured.ended('a', 50, 200, now);
    expect(measured.timesCharged('a', now)).toBeCloseTo(4, 0);
    expect(measured.timesCharged('b', now)).toBe(1);
  });

  it('is not misled by many short requests beside', () => {
    const measured = new MeasuredCost();
    for (let request = 0; request < 20; request += 1) {
      measured.ended('a', 50, 200, now);
      for (let page = 0; page < 10; page += 1) measured.ended('a', 60, 5, now);
    }
    expect(measured.timesCharged('a', now)).toBeGreaterThan(3);
  });

  it('charges nobody less, and forgets in time', () => {
    const measured = new MeasuredCost();
    measured.ended('quick', 500, 50, now);
    expect(measured.timesCharged('quick', now)).toBe(1);
    measured.ended('slow', 50, 500, now);
    expect(measured.timesCharged('slow', now)).toBeGreaterThan(9);
    expect(measured.timesCharged('slow', now + 60_000)).toBeLessThan(1.1);
  });

  it('makes nothing of a record that took somewhat longer to find, for which next to nothing is charged', () => {
    const measured = new MeasuredCost();
    for (let request = 0; request < 5; request += 1) measured.ended('a', 1, 25, now);
    expect(measured.timesCharged('a', now)).toBeLessThan(1.3);
  });

  it('learns from what is charged right that a client asks for other things now', () => {
    const measured = new MeasuredCost();
    measured.ended('a', 50, 200, now);
    for (let request = 0; request < 20; request += 1) measured.ended('a', 200, 200, now);
    expect(measured.timesCharged('a', now)).toBeLessThan(1.2);
  });
});
