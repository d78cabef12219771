import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';

describe('a request of a client that had more of the database than it was charged for', () => {
  it('waits with costly ones, whatever its statement is', async () => {
    const queue = new RequestQueue({ places: 4, placesOfSlow: 2 });
    let lent = 0;
    let most = 0;
    let statements = 0;
    const read = (address: number, heldMs: number) => {
      const ipAddress = `192.0.2.${address}`;
      const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, cost: 40 };
      return runWithRequestContext(context, async () => {
        statements += 1;
        const { leave } = await queue.enter(async () => undefined, `SELECT ${statements}`);
        lent += 1;
        most = Math.max(most, lent);
        await wait(heldMs);
        lent -= 1;
        leave();
      });
    };
    async function atOnce(addresses: readonly number[]): Promise<number> {
      await read(100, 1);
      most = 0;
      await Promise.all(addresses.map((address) => read(address, 5)));
      return most;
    }
    expect(await atOnce([1, 2, 3, 4])).toBe(4);
    for (const address of [1, 2, 3, 4]) await read(address, 300);
    expect(await atOnce([1, 2, 3, 4])).toBe(2);
    expect(await atOnce([5, 6, 7, 8])).toBe(4);
  });

  it('is heard of with what it had for sure: an answer that came may have waited for the event loop', async () => {
    const queue = new RequestQueue({ places: 1, placesOfSlow: 1 });
    const heard: [string, number][] = [];
    queue.onUse((client, ms) => heard.push([client, ms]));
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: '192.0.2.1' };
    await runWithRequestContext(context, () => queue.run(() => wait(100), 'SELECT'));
    await runWithRequestContext(context, () =>
      queue.run(async () => {
        const until = performance.now() + 100;
        while (performance.now() < until);
      }, 'SELECT'),
    );
    expect(heard.map(([client]) => client)).toEqual(['192.0.2.1', '192.0.2.1']);
    const [idle, busy] = heard.map(([, ms]) => ms) as [number, number];
    expect(idle).toBeGreaterThan(60);
    expect(busy).toBeLessThan(10);
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
