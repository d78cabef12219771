import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairQueue } from '../../../../src/chassis/database/client/fair-queue.ts';
import type { Place } from '../../../../src/chassis/database/client/measured-use.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A queue with one place, whose clients ask from addresses. */
function oneAtATime() {
  const queue = new FairQueue({ places: 1, placesOfSlow: 1 });
  const lent: string[] = [];
  const end = new Map<string, () => void>();
  /** @returns what gives the turn up */
  const wait = (client: string, address: string) =>
    queue.take(
      client,
      {
        lent: (place) => {
          lent.push(client);
          end.set(client, () => queue.giveBack(place));
        },
        late: () => undefined,
        isJoined: false,
      },
      false,
      address,
    );
  /** Who has the place gives it back after a tenth of a second. */
  const next = () => {
    vi.advanceTimersByTime(100);
    end.get(lent.at(-1) as string)?.();
  };
  return { queue, lent, wait, next };
}

describe('FairQueue, where an address has many clients', () => {
  it('lends to it one turn for each of another address', () => {
    const { lent, wait, next } = oneAtATime();
    wait('holder', 'elsewhere');
    for (let account = 0; account < 20; account += 1) wait(`user ${account}`, 'one');
    wait('other', 'two');
    wait('another', 'three');
    for (let turn = 0; turn < 4; turn += 1) next();
    expect(lent).toEqual(['holder', 'user 0', 'other', 'another', 'user 1']);
  });

  it('tells a newcomer that it waits for one turn of each address, and at its own for all that waits there', () => {
    const { queue, wait, next } = oneAtATime();
    for (const client of ['holder', 'a', 'b', 'c', 'other']) {
      wait(client, client === 'other' ? 'two' : 'one');
      next();
    }
    wait('holder', 'elsewhere');
    const leave = [wait('a', 'one'), wait('b', 'one'), wait('c', 'one'), wait('other', 'two')];
    expect(['three', 'two', 'one'].map((address) => queue.turnsBefore(address))).toEqual([2, 4, 4]);
    expect(queue.clientMs('three')).toBeCloseTo(200);
    for (const giveUp of leave) giveUp?.();
    expect([queue.turnsBefore('three'), queue.clientMs('three')]).toEqual([0, 0]);
  });

  it('counts work where its client asked from, though that has asked from elsewhere since', () => {
    const { queue, wait } = oneAtATime();
    wait('holder', 'elsewhere');
    const first = [wait('a', 'one'), wait('a', 'one')];
    const second = wait('a', 'two');
    expect(['one', 'two', 'three'].map((address) => queue.turnsBefore(address))).toEqual([3, 3, 2]);
    for (const giveUp of first) giveUp?.();
    expect(['one', 'two', 'three'].map((address) => queue.turnsBefore(address))).toEqual([1, 1, 1]);
    second?.();
    expect(['one', 'two', 'three'].map((address) => queue.turnsBefore(address))).toEqual([0, 0, 0]);
  });

  it('counts what work had where its client asked from then, though that has asked from elsewhere since', () => {
    const queue = new FairQueue({ places: 2, placesOfSlow: 2 });
    const costly = queue.takeFree('a', 'one') as Place;
    queue.giveBack(queue.takeFree('a', 'two') as Place);
    vi.advanceTimersByTime(100);
    queue.giveBack(costly);
    expect(['one', 'two'].map((address) => queue.hadLately(address, performance.now()))).toEqual([100, 0]);
  });

  it('tells what each address had of the places lately, as its part of the time, in the last seconds most', () => {
    const queue = new FairQueue({ places: 4, placesOfSlow: 4 });
    const had = (...addresses: string[]) => addresses.map((address) => queue.hadLately(address, performance.now()));
    const take = (client: string, address: string) => queue.takeFree(client, address) as Place;
    const alone = take('a', 'one');
    vi.advanceTimersByTime(100);
    queue.giveBack(alone);
    // Two run as fast as one alone; of four each has the database for half of the time.
    const ofTwo = [take('d', 'four'), take('e', 'five')];
    vi.advanceTimersByTime(100);
    for (const place of ofTwo) queue.giveBack(place);
    expect(had('four', 'five')).toEqual([100, 100]);
    const together = [take('b', 'one'), take('f', 'six'), take('g', 'six'), take('c', 'two')];
    vi.advanceTimersByTime(100);
    for (const place of together) queue.giveBack(place);
    const [one, two, three] = had('one', 'two', 'three') as [number, number, number];
    expect([two, three]).toEqual([50, 0]);
    expect(one).toBeGreaterThan(two * 2);
    vi.advanceTimersByTime(5000);
    expect(had('one', 'two')).toEqual([one / 2, two / 2]);
  });
});
