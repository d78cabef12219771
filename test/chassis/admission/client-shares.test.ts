import { beforeEach, describe, expect, it } from 'vitest';
import { ClientShares } from '../../../src/chassis/admission/client-shares.ts';
import { atOneQueue } from './one-queue.ts';

let shares: ClientShares;
const start = 100_000;

beforeEach(() => {
  shares = new ClientShares();
});

const charge = (costs: Record<string, number>, at = start) => {
  for (const [client, cost] of Object.entries(costs)) shares.charge(client, cost, at);
};

describe('ClientShares', () => {
  it('knows the client that takes most of the work, and the others as light', () => {
    charge({ hog: 900, a: 10, b: 20, c: 30 });
    expect(['hog', 'a', 'b', 'new'].map((client) => shares.of(client, start))).toEqual([
      'heavy',
      'light',
      'light',
      'light',
    ]);
  });

  it('knows eight who together take nine tenths of the work, beside twelve others', () => {
    const of = (name: string, count: number, cost: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [name + index, cost]));
    charge({ ...of('hog', 8, 300), ...of('other', 12, 20) });
    expect([...Array(8).keys()].map((index) => shares.of(`hog${index}`, start))).toEqual(Array(8).fill('heavy'));
    expect(shares.of('other3', start)).toBe('light');
  });

  it('knows a client as light that comes beside a single one', () => {
    charge({ hog: 1000 });
    expect([shares.of('hog', start), shares.of('new', start)]).toEqual(['even', 'light']);
  });

  it('knows the heavier of two', () => {
    charge({ hog: 90, a: 10 });
    expect([shares.of('hog', start), shares.of('a', start)]).toEqual(['heavy', 'light']);
  });

  it('takes back what was not done after all, and no more than what is left of it', () => {
    charge({ hog: 900, pages: 900 });
    charge({ pages: -890, idle: -50 });
    expect(['hog', 'pages', 'idle'].map((client) => shares.of(client, start))).toEqual(['heavy', 'light', 'light']);
    // An account below nothing would have its client do so much more before it counts.
    charge({ idle: 900, hog: -890 });
    expect(shares.of('idle', start + 1000)).toBe('heavy');
  });

  it('finds nobody heavy who is alone, or among equals', () => {
    charge({ a: 1000 });
    expect(shares.of('a', start)).toBe('even');
    charge({ a: 0, b: 900, c: 1100, d: 950 }, start + 300);
    expect(['a', 'b', 'c', 'd'].map((client) => shares.of(client, start + 300))).toEqual(Array(4).fill('even'));
  });

  it('finds nobody heavy in a crowd of strangers who send different amounts, and those light who send least', () => {
    const crowd = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`c${index}`, 1 + (index % 9)]));
    charge(crowd);
    const standings = Object.keys(crowd).map((client) => shares.of(client, start));
    expect(standings.slice(0, 9)).toEqual([...Array(3).fill('light'), ...Array(6).fill('even')]);
    expect(new Set(standings)).toEqual(new Set(['light', 'even']));
  });

  it('knows those as light who cost less than half of what others do, until what they cost is two fifths of the work', () => {
    for (let index = 0; index < 24 * 9; index += 1) charge({ [`many ${index % 24}`]: 100 });
    for (let index = 0; index < 5; index += 1) charge({ a: 60, b: 100 });
    const standings = () => ['many 1', 'a', 'b', 'new'].map((client) => shares.of(client, start));
    expect(standings()).toEqual(['even', 'light', 'even', 'light']);
    for (let index = 0; index < 100; index += 1) charge({ [`new ${index}`]: 100 });
    expect(standings()).toEqual(['even', 'even', 'even', 'even']);
  });

  it('has few of those refused who ask for little beside many who are alike', () => {
    const others = { clients: 12, perSecond: 12, cost: 40 };
    const { refused, longestMs } = atOneQueue(3600, { many: { clients: 24, perSecond: 80, cost: 70 }, others });
    expect([refused.others, refused.many]).toEqual([expect.closeTo(0.02, 1), expect.closeTo(0.4, 1)]);
    expect(longestMs).toBeLessThan(600);
  });

  it('has few newcomers refused beside those who are known', () => {
    const newcomers = { clients: 100_000, perSecond: 8, cost: 40 };
    const { refused } = atOneQueue(3600, { many: { clients: 24, perSecond: 80, cost: 70 }, newcomers });
    expect(refused.newcomers).toBeLessThan(0.05);
  });

  // In a large crowd a client asks so seldom that most are newcomers, or have cost nearly nothing of late.
  it.each([1, 2, 20, 200, 1000, 5000, 1_000_000])(
    'lets none of %d equal clients in beyond the target at four times what can be served',
    (clients) => {
      const { refused, longestMs } = atOneQueue(6000, { even: { clients, perSecond: 400, cost: 60 } });
      expect(longestMs).toBeLessThan(600);
      expect(refused.even).toBeLessThan(0.77);
    },
  );

  it('knows those as light who send ordinary requests while costly ones of many clients make most of the work', () => {
    for (let index = 0; index < 60; index += 1) charge({ [`costly ${index}`]: 900 });
    for (let index = 0; index < 20; index += 1) charge({ a: 60 });
    expect(['costly 1', 'a', 'new'].map((client) => shares.of(client, start))).toEqual(['even', 'light', 'light']);
  });

  it('forgets by half in five seconds, and in time at all', () => {
    charge({ hog: 1000 });
    charge({ a: 400 }, start + 10_000);
    // 250 of a thousand are left.
    expect(shares.of('hog', start + 10_000)).toBe('even');
    expect(shares.of('hog', start + 200_000)).toBe('even');
    expect(shares.size).toBe(0);
  });

  it('is no different for a client that costs as much in many requests as in one', () => {
    for (let count = 0; count < 500; count += 1) charge({ many: 2 });
    charge({ one: 1000, a: 10 });
    expect([shares.of('many', start), shares.of('one', start)]).toEqual(['even', 'even']);
  });

  it('keeps ten thousand clients at most, and the heavy one among them', () => {
    charge({ hog: 1_000_000 });
    for (let index = 0; index < 30_000; index += 1) shares.charge(`c${index}`, 1, start);
    expect([shares.size, shares.of('hog', start)]).toEqual([10_000, 'heavy']);
  });
});
