import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { CostlyWork, chargedMs, MeasuredCost } from '../../../../src/chassis/database/client/costly-work.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';

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

  it('makes nothing of one list that took long', () => {
    const measured = new MeasuredCost();
    measured.ended('a', 28, 138, now);
    expect(measured.timesCharged('a', now)).toBe(1);
    for (let request = 0; request < 2; request += 1) measured.ended('a', 28, 138, now);
    expect(measured.timesCharged('a', now)).toBeGreaterThan(3);
  });

  it('learns from what is charged right that a client asks for other things now', () => {
    const measured = new MeasuredCost();
    measured.ended('a', 50, 200, now);
    for (let request = 0; request < 20; request += 1) measured.ended('a', 200, 200, now);
    expect(measured.timesCharged('a', now)).toBeLessThan(1.2);
  });
});

describe('CostlyWork', () => {
  it.each([
    ['one by one', true, true],
    ['side by side', false, false],
  ])('takes a list by a known quick statement for costly where work is served %s: %s', (_how, isSerial, expected) => {
    const work = new CostlyWork(isSerial);
    work.countStatement('SELECT', 1);
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: '192.0.2.1' };
    expect(work.isCostly({ ...context, cost: 2 }, 'SELECT')).toBe(expected);
    expect(work.isCostly({ ...context, cost: 1 }, 'SELECT')).toBe(false);
    expect(work.isCostly({ ...context, cost: 2 })).toBe(false);
  });

  it('takes for costly what is charged with next to nothing and takes many times what a page does', () => {
    const work = new CostlyWork(false);
    const context = {
      requestId: 'r',
      method: 'GET',
      url: '/',
      startTime: new Date(),
      ipAddress: '192.0.2.1',
      cost: 13,
    };
    expect(work.isCostly(context)).toBe(false);
    for (let request = 0; request < 5; request += 1) work.countRequest(context, 140, performance.now());
    expect(work.isCostly(context)).toBe(true);
  });
});

function keepBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('what is expected of a charge', () => {
  it('is for an ordinary one as much as a statement takes that is not slow yet', () => {
    expect([chargedMs(100), chargedMs(50), chargedMs(0)]).toEqual([50, 25, 0]);
  });
});

/** Reads by a queue, each from an address, and how many had places at once: quick ones with one statement, others each with its own. */
class Reads {
  most = 0;
  readonly #queue: RequestQueue;
  readonly #cost: number;
  #lent = 0;
  #statements = 0;

  constructor(queue: RequestQueue, cost: number) {
    this.#queue = queue;
    this.#cost = cost;
  }

  one(address: number, heldMs: number, known?: string): Promise<void> {
    const ipAddress = `192.0.2.${address}`;
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, cost: this.#cost };
    return runWithRequestContext(context, async () => {
      const statement = known ?? (heldMs > 50 ? `SELECT ${++this.#statements}` : 'SELECT');
      const { leave } = await this.#queue.enter(async () => undefined, statement);
      this.#lent += 1;
      this.most = Math.max(this.most, this.#lent);
      await wait(heldMs);
      this.#lent -= 1;
      leave();
    });
  }
}

describe('a request of a client that had more of the database than it was charged for', () => {
  it('waits with costly ones, whatever its statement is', async () => {
    const reads = new Reads(new RequestQueue({ places: 4, placesOfSlow: 2 }), 40);
    async function atOnce(addresses: readonly number[]): Promise<number> {
      await reads.one(100, 1);
      reads.most = 0;
      await Promise.all(addresses.map((address) => reads.one(address, 5)));
      return reads.most;
    }
    expect(await atOnce([1, 2, 3, 4])).toBe(4);
    for (const address of [1, 2, 3, 4]) await reads.one(address, 300);
    expect(await atOnce([1, 2, 3, 4])).toBe(2);
    expect(await atOnce([5, 6, 7, 8])).toBe(4);
  });

  it('waits with them too where the event loop is never idle, as beside a database on the same cores', async () => {
    const reads = new Reads(new RequestQueue({ places: 8, placesOfSlow: 2 }), 60);
    let isBusy = true;
    const busy = (async () => {
      while (isBusy) {
        keepBusy(5);
        await nextTurn();
      }
    })();
    await reads.one(100, 1, 'SELECT late');
    await Promise.all([1, 2, 3, 4, 5, 6].map((address) => reads.one(address, 600 + 20 * address, 'SELECT late')));
    await reads.one(100, 1);
    reads.most = 0;
    await Promise.all([3, 4, 5, 6].map((address) => reads.one(address, 10)));
    isBusy = false;
    await busy;
    expect(reads.most).toBe(2);
  });

  it('waits with them also once its turn comes that it waited for before anything was known of it', async () => {
    const reads = new Reads(new RequestQueue({ places: 4, placesOfSlow: 1 }), 60);
    const addresses = [1, 2, 3, 4];
    const first = addresses.map((address) => reads.one(address, 300));
    const waiting = addresses.flatMap((address) => [reads.one(address, 20), reads.one(address, 20)]);
    await Promise.all(first);
    reads.most = 0;
    await Promise.all(waiting);
    expect(reads.most).toBe(1);
  });

  it('is heard of with what it had for sure: an answer that came may have waited for the event loop', async () => {
    const queue = new RequestQueue({ places: 1, placesOfSlow: 1 });
    const heard: [string, number][] = [];
    queue.onUse((client, ms) => heard.push([client, ms]));
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: '192.0.2.1' };
    await runWithRequestContext(context, () => queue.run(() => wait(100), 'SELECT'));
    await runWithRequestContext(context, () => queue.run(async () => keepBusy(100), 'SELECT'));
    expect(heard.map(([client]) => client)).toEqual(['192.0.2.1', '192.0.2.1']);
    const [idle, busy] = heard.map(([, ms]) => ms) as [number, number];
    expect(idle).toBeGreaterThan(60);
    expect(busy).toBeLessThan(10);
  });
});

describe('a statement', () => {
  const atOnceAfter = async (work: () => unknown) => {
    const queue = new RequestQueue({ places: 4, placesOfSlow: 2 });
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), cost: 1 };
    let lent = 0;
    const read = (address: number, run: () => unknown) =>
      runWithRequestContext({ ...context, ipAddress: `192.0.2.${address}` }, async () => {
        const { leave } = await queue.enter(async () => undefined, 'SELECT');
        lent += 1;
        await run();
        leave();
      });
    await Promise.all([read(1, work), read(2, work)]);
    lent = 0;
    const reads = [3, 4, 5, 6].map((address) => read(address, () => wait(10)));
    await wait(5);
    const most = lent;
    await Promise.all(reads);
    return most;
  };

  it('is slow that took the database long, and not where its answer waited for the process', async () => {
    expect(await atOnceAfter(() => wait(100))).toBe(2);
    expect(await atOnceAfter(() => keepBusy(100))).toBe(4);
  });
});

describe('long answers', () => {
  it('have two places together while others are there, so that no turn of the event loop brings many of them', async () => {
    const queue = new RequestQueue({ places: 8, placesOfSlow: 4 });
    let lent = 0;
    let most = 0;
    const read = (address: number, isLong: boolean) => {
      const ipAddress = `192.0.2.${address}`;
      const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, isLong };
      return runWithRequestContext(context, async () => {
        const { leave } = await queue.enter(async () => undefined, 'SELECT');
        if (isLong) lent += 1;
        most = Math.max(most, lent);
        await wait(5);
        if (isLong) lent -= 1;
        leave();
      });
    };
    await read(100, false);
    const others = read(101, false);
    await Promise.all([1, 2, 3, 4, 5, 6].map((address) => read(address, true)));
    await others;
    expect(most).toBe(2);
  });

  it('wait for each other, of which a further one is told', async () => {
    const queue = new RequestQueue({ places: 8, placesOfSlow: 4 });
    const context = (address: number, isLong = true): RequestContext => {
      const ipAddress = `192.0.2.${address}`;
      return { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, isLong };
    };
    const read = (of: RequestContext, heldMs: number) =>
      runWithRequestContext(of, () => queue.run(() => wait(heldMs), 'SELECT'));
    await read(context(100, false), 1);
    await Promise.all([read(context(1), 100), read(context(2), 100)]);
    const waiting = [1, 2, 3, 4].map((address) => read(context(address), 50));
    expect(queue.heldBackMs(context(5), performance.now())).toBeGreaterThan(10);
    expect(queue.heldBackMs(context(5, false), performance.now())).toBe(0);
    await Promise.all(waiting);
  });
});
