import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairQueue, type FairQueueOptions } from '../../../../src/chassis/database/client/fair-queue.ts';
import type { Place } from '../../../../src/chassis/database/client/measured-use.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function take(queue: FairQueue, client: string): Promise<Place> {
  return new Promise((lent, late) => queue.take(client, { lent, late, isJoined: false }));
}

/** A queue, and the places that its clients have, in the order in which they got them. */
function queueOf(options: Partial<FairQueueOptions> = {}) {
  const queue = new FairQueue({ places: 4, placesOfSlow: 2, ...options });
  const lent: { client: string; place: Place }[] = [];
  const ask = async (client: string, count = 1) => {
    for (let index = 0; index < count; index += 1) {
      void take(queue, client).then((place) => lent.push({ client, place }));
    }
    await settled();
  };
  /** The client gives its first place back. */
  const end = async (client: string) => {
    const index = lent.findIndex((one) => one.client === client);
    for (const { place } of lent.splice(index, 1)) queue.giveBack(place);
    await settled();
  };
  /** Work of a client, from its start to its end. */
  const work = async (client: string, ms: number) => {
    await ask(client);
    vi.advanceTimersByTime(ms);
    await end(client);
  };
  return { queue, ask, end, work, clients: () => lent.map(({ client }) => client) };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

describe('FairQueue', () => {
  it('lends all places to a client that is there alone, however slow its work is', async () => {
    const { ask, work, clients, queue } = queueOf();
    await work('a', 5000);
    await ask('a', 6);
    expect([clients(), queue.heldBack]).toEqual([['a', 'a', 'a', 'a'], 0]);
  });

  it('lends all places to a client that is alone beside work of the service, such as a health check, but not the other way', async () => {
    const { ask, end, work, clients } = queueOf();
    await work('service', 500);
    await work('a', 500);
    await ask('a', 4);
    expect(clients()).toEqual(['a', 'a', 'a', 'a']);
    for (let place = 0; place < 4; place += 1) await end('a');
    await ask('service', 4);
    expect(clients()).toEqual(['service', 'service']);
  });

  it('lends all places to a client whose work is quick, beside others', async () => {
    const { ask, work, clients } = queueOf();
    await work('other', 1);
    await work('a', 20);
    await ask('a', 6);
    expect(clients()).toEqual(['a', 'a', 'a', 'a']);
  });

  it('lends to requests under way first, of whichever client, and knows who has waited for longest all the same', async () => {
    const { queue, ask, end, work, clients } = queueOf({ places: 1, placesOfSlow: 1 });
    await work('other', 80);
    await work('a', 80);
    await ask('holder');
    await ask('new', 2);
    await ask('a');
    vi.advanceTimersByTime(100);
    const lent: string[] = [];
    for (const client of ['a', 'other'])
      queue.take(client, { lent: () => lent.push(client), late: () => undefined, isJoined: false }, true);
    await end('holder');
    expect([lent, clients()]).toEqual([['a'], []]);
    expect(queue.heldBackMs('a', performance.now())).toBe(100);
  });

  it('lends to who waits whose address used much less, although requests of another are under way', async () => {
    const { queue, ask, end, work, clients } = queueOf({ places: 1, placesOfSlow: 1 });
    await work('a', 500);
    await ask('holder');
    await ask('new');
    queue.take('a', { lent: () => undefined, late: () => undefined, isJoined: false }, true);
    await end('holder');
    expect(clients()).toEqual(['new']);
  });

  it('lends each fourth place to the client that used least, however many requests under way there are', async () => {
    const { queue, ask, end, work } = queueOf({ places: 1, placesOfSlow: 1 });
    await work('a', 80);
    await ask('holder');
    const lent: string[] = [];
    const wait = (client: string, isUnderWay: boolean) => {
      const next = (place: Place) => {
        lent.push(client);
        if (lent.length < 6) queueMicrotask(() => queue.giveBack(place));
      };
      queue.take(client, { lent: next, late: () => undefined, isJoined: false }, isUnderWay);
    };
    wait('new', false);
    for (let turn = 0; turn < 8; turn += 1) wait('a', true);
    await end('holder');
    await settled();
    expect(lent).toEqual(['a', 'a', 'a', 'new', 'a', 'a']);
  });

  it('lends a client whose work is slow a part of the places while others are there, and the rest to them at once', async () => {
    const { ask, work, clients, queue } = queueOf();
    await work('other', 1);
    await work('slow', 500);
    await ask('slow', 6);
    expect([clients(), queue.heldBack]).toEqual([['slow', 'slow'], 4]);
    await ask('other', 2);
    expect(clients()).toEqual(['slow', 'slow', 'other', 'other']);
  });

  it('knows slow work among many times as much that is quick', async () => {
    const { ask, work, clients } = queueOf();
    await work('other', 1);
    await work('mixed', 500);
    for (let index = 0; index < 100; index += 1) await work('mixed', 1);
    await ask('mixed', 4);
    expect(clients()).toEqual(['mixed', 'mixed']);
  });

  it('takes the first work of a client for slow until it has ended', async () => {
    const { ask, end, clients } = queueOf();
    await ask('other');
    await ask('new', 4);
    expect(clients()).toEqual(['other', 'new', 'new']);
    vi.advanceTimersByTime(5);
    await end('new');
    expect(clients()).toEqual(['other', 'new', 'new', 'new']);
  });

  it('lends all places again once no other client has come for five seconds', async () => {
    const { ask, end, work, clients } = queueOf();
    await work('other', 1);
    await work('slow', 500);
    await ask('slow', 6);
    vi.advanceTimersByTime(5000);
    await end('slow');
    expect(clients()).toEqual(['slow', 'slow', 'slow', 'slow']);
  });

  it('lends the next place to the client that used least, not to the one that asked first', async () => {
    const { ask, end, clients } = queueOf({ places: 1, placesOfSlow: 1 });
    await ask('a', 3);
    await ask('b', 2);
    vi.advanceTimersByTime(100);
    await end('a');
    expect(clients()).toEqual(['b']);
    vi.advanceTimersByTime(40);
    await end('b');
    expect(clients()).toEqual(['b']);
    vi.advanceTimersByTime(70);
    await end('b');
    expect(clients()).toEqual(['a']);
  });

  it('has nobody wait for more than a second of the use by others, however much it used while it was alone', async () => {
    const { ask, end, work, clients } = queueOf({ places: 1, placesOfSlow: 1 });
    await work('old', 60_000);
    await ask('new', 30);
    await ask('old');
    let turns = 0;
    for (; clients()[0] === 'new'; turns += 1) {
      vi.advanceTimersByTime(100);
      await end('new');
    }
    expect([clients(), turns]).toEqual([['old'], 10]);
  });

  it('tells how long a client has waited for its own slow work, and of nobody else', async () => {
    const { ask, end, work, queue } = queueOf();
    await work('other', 1);
    await work('slow', 500);
    await ask('slow', 3);
    await ask('other', 3);
    vi.advanceTimersByTime(700);
    const now = performance.now();
    expect(['slow', 'other', 'nobody'].map((client) => queue.heldBackMs(client, now))).toEqual([700, 0, 0]);
    await end('slow');
    expect(queue.heldBackMs('slow', now)).toBe(0);
  });

  it('says no such wait of a client whose first work is under way, which may wait for that of others', async () => {
    const { ask, queue } = queueOf();
    await ask('other');
    await ask('new', 3);
    vi.advanceTimersByTime(700);
    expect(queue.heldBackMs('new', performance.now())).toBe(0);
  });

  it('ends the wait of what waited for timeoutMs, and lends its turn to the next', async () => {
    const { queue, end, ask, clients } = queueOf({ places: 1, placesOfSlow: 1, timeoutMs: 1000 });
    await ask('a');
    const late = take(queue, 'b');
    const refused = expect(late).rejects.toThrow('timeout exceeded when trying to connect');
    vi.advanceTimersByTime(500);
    await ask('c');
    vi.advanceTimersByTime(500);
    await refused;
    await end('a');
    expect(clients()).toEqual(['c']);
    vi.advanceTimersByTime(2000);
    expect(clients()).toEqual(['c']);
  });

  it('takes time behind the work of others for waiting, where places are served one after the other', async () => {
    const { ask, end, clients } = queueOf({ serial: true, placesOfSlow: 1 });
    await ask('slow');
    await ask('quick', 2);
    vi.advanceTimersByTime(1000);
    await end('slow');
    vi.advanceTimersByTime(5);
    await end('quick');
    await ask('quick', 3);
    expect(clients()).toEqual(['quick', 'quick', 'quick', 'quick']);
  });

  it('tells what a newcomer waits: one turn of each client that waits, however much each has asked for', async () => {
    const { ask, work, queue } = queueOf({ places: 2, placesOfSlow: 2 });
    expect(queue.clientMs('10.0.0.1')).toBe(0);
    await work('slow', 400);
    await work('quick', 20);
    await ask('slow', 30);
    expect(queue.clientMs('10.0.0.1')).toBeCloseTo(200);
    await ask('quick', 5);
    expect(queue.clientMs('10.0.0.1')).toBeCloseTo(210);
  });
});
