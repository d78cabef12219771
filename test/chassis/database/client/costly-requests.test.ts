import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { unitOfWorkPlace } from '../../../../src/chassis/database/client/costly-work.ts';
import type { FairQueueOptions } from '../../../../src/chassis/database/client/fair-queue.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';

describe('costly requests of many addresses, each of which has sent one', () => {
  const context = (address: number, cost: number): RequestContext => {
    const ipAddress = `192.0.2.${address}`;
    return { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, cost };
  };

  /** A queue, and who has places of it; each ends by its number. */
  function queueOf(options: FairQueueOptions) {
    const queue = new RequestQueue(options);
    const turns = new Map<number, () => void>();
    const enter = (address: number, cost: number, more: Partial<RequestContext> = {}, statement?: string) =>
      void runWithRequestContext({ ...context(address, cost), ...more }, async () => {
        const { leave } = await queue.enter(async () => undefined, statement);
        turns.set(address, leave);
      }).catch(() => undefined);
    const enterUnit = (address: number) => enter(address, 1, {}, unitOfWorkPlace);
    return { queue, turns, enter, enterUnit };
  }

  it('have a part of the places together while others are there, who get theirs at once', async () => {
    const { queue, turns, enter } = queueOf({ places: 4, placesOfSlow: 2 });
    enter(100, 1);
    for (let address = 1; address <= 30; address += 1) enter(address, 500);
    enter(101, 60);
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 100, 101, 2]);
    // The others wait for no one but each other, so no one else is refused for them.
    expect([queue.waitingQueries, queue.heldBackQueries, queue.ordinaryHeldBackQueries]).toEqual([28, 28, 28]);
    turns.get(1)?.();
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 100, 101, 2, 3]);
  });

  it('of addresses that had less of the database lately go first, whatever each had it for', async () => {
    const { turns, enter } = queueOf({ places: 4, placesOfSlow: 1 });
    const ends = (address: number) => {
      turns.get(address)?.();
      turns.delete(address);
      return wait(5);
    };
    // Ordinary work, which nobody waits for, and a stream.
    enter(1, 1);
    enter(2, 500, { isStreaming: true });
    await wait(150);
    await Promise.all([ends(1), ends(2)]);
    enter(3, 500);
    for (const address of [1, 2, 4]) enter(address, 500);
    await wait(5);
    expect([...turns.keys()]).toEqual([3]);
    await ends(3);
    expect([...turns.keys()]).toEqual([4]);
  });

  it('have a place of their own where they have room for their answers, for which others wait', async () => {
    const { turns, enter } = queueOf({ places: 4, placesOfSlow: 2 });
    enter(100, 1);
    for (let address = 1; address <= 30; address += 1) enter(address, 500);
    enter(101, 500, { hasRoom: true });
    enter(102, 500, { hasRoom: true });
    await wait(5);
    turns.get(100)?.();
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 100, 101, 2]);
    turns.get(101)?.();
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 100, 101, 102, 2]);
  });

  it('of several kinds have together as many places as one kind alone, and each kind one at least, the rest two', async () => {
    const { turns, enter } = queueOf({ places: 10, placesOfSlow: 3 });
    const kinds = [{}, { hasRoom: true }, { isStreaming: true }, { isLong: true }];
    const ends = (place: number) => {
      turns.get(place)?.();
      turns.delete(place);
      return wait(5);
    };
    enter(100, 1);
    for (let address = 1; address <= 9; address += 1) enter(address, 500);
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 100, 2, 3]);
    for (let kind = 1; kind <= 3; kind += 1)
      for (let address = 0; address < 3; address += 1) enter(kind * 10 + address, 500, kinds[kind]);
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 10, 100, 2, 20, 3, 30]);
    for (const address of [1, 2, 3]) await ends(address);
    expect([...turns.keys()].sort()).toEqual([10, 100, 20, 30, 4, 5]);
  });

  it('leave units of work all of their places, because each keeps one while the event loop is busy with lists', async () => {
    const { turns, enter, enterUnit } = queueOf({ places: 10, placesOfSlow: 3 });
    enter(100, 1);
    for (let address = 1; address <= 9; address += 1) enter(address, 500);
    for (let address = 11; address <= 19; address += 1) enterUnit(address);
    await wait(5);
    expect([...turns.keys()].sort()).toEqual([1, 100, 11, 12, 13, 2, 3]);
    // What ends of the lists is lent again as far as two while units have all.
    for (const address of [1, 2]) turns.get(address)?.();
    await wait(5);
    expect(turns.size).toBe(8);
    turns.get(3)?.();
    await wait(5);
    expect([...turns.keys()].at(-1)).toBe(5);
  });

  it('have a place of their own where they stream, for which each batch waits as long as it takes', async () => {
    const { turns, enter } = queueOf({ places: 4, placesOfSlow: 2, timeoutMs: 20 });
    enter(100, 1);
    for (let address = 1; address <= 30; address += 1) enter(address, 500);
    for (const address of [101, 102]) enter(address, 500, { isStreaming: true });
    await wait(5);
    turns.get(100)?.();
    await wait(40);
    expect([...turns.keys()].sort()).toEqual([1, 100, 101, 2]);
    turns.get(101)?.();
    await wait(5);
    expect(turns.has(102)).toBe(true);
  });

  it('and streams count together as what an address had of the database', async () => {
    const { queue, turns, enter } = queueOf({ places: 4, placesOfSlow: 2 });
    const had = () => queue.hadLately('192.0.2.1', performance.now());
    enter(1, 1, { isStreaming: true });
    await wait(20);
    turns.get(1)?.();
    const byStream = had();
    enter(1, 1);
    await wait(20);
    turns.get(1)?.();
    expect([byStream > 15, had() > byStream + 15]).toEqual([true, true]);
  });

  describe('while no others are there', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
    afterEach(() => void vi.useRealTimers());

    const servedOf = async (options: FairQueueOptions, afterMs: number) => {
      const { turns, enter } = queueOf(options);
      vi.advanceTimersByTime(afterMs);
      for (let address = 1; address <= 10; address += 1) enter(address, 500);
      await wait(5);
      return turns.size;
    };

    it('leave as many places free for those who come next, except where places are served one after the other', async () => {
      const ofTen = await servedOf({ places: 10, placesOfSlow: 3 }, 5000);
      const ofOne = await servedOf({ places: 1, placesOfSlow: 1 }, 5000);
      const serial = await servedOf({ places: 10, placesOfSlow: 1, serial: true }, 5000);
      expect([ofTen, ofOne, serial]).toEqual([7, 1, 1]);
    });

    it('have a part of them directly after the start, because others come with them', async () => {
      expect(await servedOf({ places: 10, placesOfSlow: 3 }, 4999)).toBe(3);
    });
  });

  it('tell others of their kind how long they will wait, and ordinary ones that they will not', async () => {
    const { queue, turns, enter } = queueOf({ places: 4, placesOfSlow: 1 });
    enter(100, 1);
    enter(1, 500);
    await wait(50);
    turns.get(1)?.();
    for (let address = 2; address <= 5; address += 1) enter(address, 500);
    await wait(5);
    const waitOf = (cost: number) => queue.heldBackMs(context(200, cost), performance.now());
    expect([waitOf(500) > 30, waitOf(60)]).toEqual([true, 0]);
  });

  it('tell who had much how long it will wait where others have all threads for reads, and not for ever', async () => {
    const { queue, turns, enter } = queueOf({ places: 2, placesOfSlow: 1, serial: true });
    const read = (address: number) => enter(address, 100, {}, 'SELECT');
    for (const ms of [600, 20]) {
      read(1);
      await wait(ms);
      turns.get(1)?.();
    }
    for (const address of [2, 3, 4]) read(address);
    await wait(5);
    read(1);
    await wait(5);
    expect([...turns.keys()].toSorted()).toEqual([1, 2, 3]);
    const waitMs = queue.heldBackMs(context(1, 500), performance.now());
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThan(5000);
  });

  it('leave a pause behind each that took long where places are served one by one, in which others have all their turns', async () => {
    const { turns, enter } = queueOf({ places: 2, placesOfSlow: 1, serial: true });
    enter(1, 500);
    enter(2, 500);
    await wait(60);
    turns.get(1)?.();
    await wait(10);
    expect([...turns.keys()]).toEqual([1]);
    await expect.poll(() => [...turns.keys()]).toEqual([1, 2]);
  });
});
