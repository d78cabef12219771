import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RequestContext } from '../../../../src/chassis/context/request-context.ts';
import { ServiceUnavailableException, TooManyRequestsException } from '../../../../src/chassis/errors/exceptions.ts';
import { ClientPace } from '../../../../src/chassis/http/streams/stream-places.ts';
import { StreamShares } from '../../../../src/chassis/http/streams/stream-shares.ts';

const from = (ipAddress: string, userId: string) => ({ ipAddress, userId }) as RequestContext;
const shareOf = (rows: number, events = 100) => new StreamShares({ rows, events });

/** A stream whose client takes so much of it in a second, and whether it has been cut. */
function stream(perSecond = Number.POSITIVE_INFINITY) {
  return {
    isCut: false,
    cut() {
      this.isCut = true;
    },
    pace: () => perSecond,
  };
}

describe('streams of rows', () => {
  it('are a quarter of all for one address, however many accounts it has, and others get theirs', () => {
    const shares = shareOf(8);
    const leave = shares.enterRows(from('192.0.2.1', 'a'), 1, stream());
    shares.enterRows(from('192.0.2.1', 'b'), 1, stream());
    expect(() => shares.enterRows(from('192.0.2.1', 'c'), 1, stream())).toThrow(TooManyRequestsException);
    shares.enterRows(from('192.0.2.2', 'c'), 1, stream());
    leave();
    shares.enterRows(from('192.0.2.1', 'd'), 1, stream());
  });

  it('are no more than the memory is enough for, whoever opens them', () => {
    const shares = shareOf(2);
    const leave = shares.enterRows(from('192.0.2.1', 'a'), 1, stream());
    shares.enterRows(from('192.0.2.2', 'b'), 1, stream());
    expect(() => shares.enterRows(from('192.0.2.3', 'c'), 1, stream())).toThrow(ServiceUnavailableException);
    leave();
    shares.enterRows(from('192.0.2.3', 'c'), 1, stream());
  });

  it('that are refused leave no count behind', () => {
    const shares = shareOf(100);
    const leave = shares.enterRows(from('192.0.2.1', 'a'), 1, stream());
    for (let tried = 0; tried < 200; tried += 1) {
      expect(() => shares.enterRows(from('192.0.2.1', 'a'), 1, stream())).toThrow(/^1 streams of yours/);
    }
    leave();
    shares.enterRows(from('192.0.2.1', 'a'), 1, stream());
  });

  it('are an eighth while memory is short, of which each address has one before another has more', () => {
    const memory = { isShort: true };
    const shares = new StreamShares({ rows: 32, events: 2 }, memory);
    const enter = (address: string, one = stream()) => shares.enterRows(from(`192.0.2.${address}`, address), 8, one);
    const many = Array.from({ length: 4 }, () => stream());
    for (const one of many) enter('1', one);
    expect(() => enter('1')).toThrow(ServiceUnavailableException);
    for (const address of ['2', '3', '4']) enter(address);
    expect(many.map(({ isCut }) => isCut)).toEqual([true, true, true, false]);
    for (const address of ['2', '5']) expect(() => enter(address)).toThrow(ServiceUnavailableException);
    memory.isShort = false;
    for (let count = 4; count < 32; count += 1) enter(String(count + 100));
    memory.isShort = true;
    expect(() => enter('99')).toThrow(ServiceUnavailableException);
  });

  it('of the address with the most give way to one of an address with fewer, the slowest first, until it would have as many', () => {
    const shares = shareOf(4);
    const paces = [50_000, 20_000, 90_000];
    const many = paces.map((pace) => stream(pace));
    for (const one of many) shares.enterRows(from('192.0.2.1', 'a'), 3, one);
    const lone = stream(17_000);
    shares.enterRows(from('192.0.2.2', 'b'), 3, lone);
    shares.enterRows(from('192.0.2.3', 'c'), 3, stream(60_000));
    expect(many.map(({ isCut }) => isCut)).toEqual([false, true, false]);
    expect(() => shares.enterRows(from('192.0.2.2', 'b'), 3, stream())).toThrow(ServiceUnavailableException);
    expect(() => shares.enterRows(from('192.0.2.1', 'a'), 4, stream())).toThrow(ServiceUnavailableException);
    expect([many[0]?.isCut, many[2]?.isCut, lone.isCut]).toEqual([false, false, false]);
  });

  it('of which each address has one give way where their clients hardly take them', () => {
    const shares = shareOf(2);
    const [slow, fast] = [stream(2000), stream(50_000)];
    shares.enterRows(from('192.0.2.1', 'a'), 3, slow);
    shares.enterRows(from('192.0.2.2', 'b'), 3, fast);
    const leave = shares.enterRows(from('192.0.2.3', 'c'), 3, stream());
    expect([slow.isCut, fast.isCut]).toEqual([true, false]);
    expect(() => shares.enterRows(from('192.0.2.4', 'd'), 3, stream())).toThrow(ServiceUnavailableException);
    leave();
    shares.enterRows(from('192.0.2.4', 'd'), 3, stream());
  });
});

describe('streams of events', () => {
  it('of the address with the most give way to one of an address with fewer, the oldest first', () => {
    const shares = shareOf(1, 4);
    const many = [stream(), stream(), stream(), stream()];
    for (const [index, one] of many.entries()) shares.enterEvents(from('192.0.2.1', `${index}`), 1, one);
    shares.enterEvents(from('192.0.2.2', 'a'), 1, stream());
    expect(many.map(({ isCut }) => isCut)).toEqual([true, false, false, false]);
    shares.enterEvents(from('192.0.2.3', 'b'), 1, stream());
    expect(() => shares.enterEvents(from('192.0.2.2', 'c'), 1, stream())).toThrow(ServiceUnavailableException);
    expect(many.map(({ isCut }) => isCut)).toEqual([true, true, false, false]);
  });
});

describe('the pace of a client', () => {
  it('is what it has taken of late while it was waited for, and not known before five seconds of that', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const pace = new ClientPace();
    const take = (length: number, ms: number) => {
      pace.handed();
      vi.advanceTimersByTime(ms);
      pace.took('x'.repeat(length));
    };
    for (let pieces = 0; pieces < 100; pieces += 1) take(32_768, 0);
    vi.advanceTimersByTime(60_000);
    expect(pace.perSecond).toBe(Number.POSITIVE_INFINITY);
    for (let pieces = 0; pieces < 40; pieces += 1) take(2000, 1000);
    expect(pace.perSecond).toBeGreaterThan(1900);
    expect(pace.perSecond).toBeLessThan(50_000);
    for (let pieces = 0; pieces < 40; pieces += 1) take(2000, 1000);
    expect(pace.perSecond).toBeLessThan(3000);
    pace.handed();
    vi.advanceTimersByTime(60_000);
    expect(pace.perSecond).toBeLessThan(500);
  });
});
