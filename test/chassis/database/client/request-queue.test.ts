import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { unitOfWorkPlace } from '../../../../src/chassis/database/client/costly-work.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';

it.each([
  ['counts the streams of an address as one client', { isStreaming: true }],
  ['lends to the accounts of an address one turn for each of another', {}],
])('RequestQueue %s, so that many accounts get no turns before others', async (_name, kind) => {
  const queue = new RequestQueue({ places: 1, placesOfSlow: 1 });
  const begun: string[] = [];
  function visit(of: Partial<RequestContext>): Promise<void> {
    const context: RequestContext = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ...of };
    return runWithRequestContext(context, async () => {
      const { leave } = await queue.enter(async () => void begun.push(context.userId ?? 'other'));
      await wait(5);
      leave();
    });
  }
  const accounts = ['a', 'b', 'c'].map((userId) => visit({ ipAddress: '192.0.2.1', userId, ...kind }));
  await Promise.all([...accounts, visit({ ipAddress: '192.0.2.2' })]);
  expect(begun).toEqual(['a', 'other', 'b', 'c']);
});

it('RequestQueue refuses at once what would wait in vain for other work of its client, and nobody else', async () => {
  const queue = new RequestQueue({ places: 3, placesOfSlow: 1, timeoutMs: 300 });
  function visit(userId: string, heldMs: number, options: Partial<RequestContext> = {}): Promise<void> {
    const context: RequestContext = {
      requestId: 'r',
      method: 'PUT',
      url: '/',
      startTime: new Date(),
      userId,
      ...options,
    };
    return runWithRequestContext(context, async () => {
      const { leave } = await queue.enter(() => Promise.resolve());
      await wait(heldMs);
      leave();
    });
  }
  await visit('slow', 80);
  await visit('other', 0);
  const others = setInterval(() => void visit('other', 0), 50);
  const [first, second] = [visit('slow', 250), visit('slow', 0)];
  await wait(200);
  const began = performance.now();
  await expect(visit('slow', 0)).rejects.toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
  expect(performance.now() - began).toBeLessThan(50);
  // A stream has begun, and its client waits for the rest.
  await Promise.all([
    visit('other', 0),
    visit('slow', 0, { isStreaming: true, ipAddress: '192.0.2.1' }),
    first,
    second,
  ]);
  clearInterval(others);
});

it('RequestQueue refuses nothing that a request does after its write, whose answer would say that nothing was stored', async () => {
  const queue = new RequestQueue({ places: 3, placesOfSlow: 1, timeoutMs: 300 });
  const contextOf = (userId: string) => ({ requestId: 'r', method: 'POST', url: '/', startTime: new Date(), userId });
  const visit = (context: RequestContext, heldMs: number, statement?: string) =>
    runWithRequestContext(context, () => queue.run(() => wait(heldMs), statement));
  await visit(contextOf('slow'), 80);
  const written = contextOf('slow');
  await visit(written, 0, unitOfWorkPlace);
  await visit(contextOf('other'), 0);
  const others = setInterval(() => void visit(contextOf('other'), 0), 50);
  const busy = [visit(contextOf('slow'), 250), visit(contextOf('slow'), 0)];
  await wait(200);
  await expect(visit(contextOf('slow'), 0, 'SELECT 1')).rejects.toMatchObject({ statusCode: 503 });
  const now = performance.now();
  expect(queue.heldBackMs(written, now)).toBe(0);
  expect(queue.heldBackMs(contextOf('slow'), now)).toBeGreaterThan(100);
  // Such as that which stores what a payment provider has answered.
  await Promise.all([visit(written, 0, 'SELECT 1'), visit(written, 0, unitOfWorkPlace)]);
  await Promise.all(busy);
  clearInterval(others);
});

it('RequestQueue ends requests that have begun before others begin, so that few hold what they have read', async () => {
  const queue = new RequestQueue({ places: 2, placesOfSlow: 1 });
  let holding = 0;
  let most = 0;
  async function query(): Promise<void> {
    const { leave } = await queue.enter(() => wait(2));
    leave();
  }
  const visit = (index: number) => {
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), userId: `user ${index % 5}` };
    return runWithRequestContext(context, async () => {
      await query();
      most = Math.max(most, ++holding);
      await query();
      holding -= 1;
    });
  };
  await Promise.all(Array.from({ length: 50 }, (_, index) => visit(index)));
  expect(most).toBeLessThanOrEqual(6);
});

it('RequestQueue counts two waiting queries of each request as ordinary, none of streams and none outside of requests', async () => {
  const queue = new RequestQueue({ places: 1, placesOfSlow: 1 });
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const holding = queue.run(() => end);
  const ask = (times: number) => Promise.all(Array.from({ length: times }, () => queue.run(() => wait(0))));
  const context = () => ({ requestId: 'r', method: 'GET', url: '/', startTime: new Date() });
  const turned: RequestContext = context();
  const asked = [
    ask(5),
    runWithRequestContext(context(), () => ask(1)),
    runWithRequestContext(context(), () => ask(5)),
    runWithRequestContext({ ...context(), isStreaming: true }, () => ask(5)),
    runWithRequestContext(turned, () => ask(2)),
  ];
  expect([queue.waitingQueries, queue.ordinaryQueries]).toEqual([19, 5]);
  turned.isStreaming = true;
  asked.push(runWithRequestContext(turned, () => ask(1)));
  expect([queue.waitingQueries, queue.ordinaryQueries]).toEqual([20, 3]);
  resolve();
  await Promise.all([holding, ...asked]);
  expect([queue.waitingQueries, queue.ordinaryQueries]).toEqual([0, 0]);
});

it('tells apart what is held back of requests and what of streams', async () => {
  const queue = new RequestQueue({ places: 6, placesOfSlow: 2 });
  const context = (userId: string, isStreaming: boolean): RequestContext => {
    const ipAddress = userId === 'streams' ? '192.0.2.1' : '192.0.2.2';
    return { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, userId, isStreaming };
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  const ask = (userId: string, isStreaming: boolean, count: number) =>
    Array.from({ length: count }, () =>
      runWithRequestContext(context(userId, isStreaming), () => queue.run(() => promise)),
    );
  const asked = [...ask('other', false, 1), ...ask('streams', true, 12), ...ask('slow', false, 7)];
  await wait(5);
  expect([queue.heldBackQueries, queue.ordinaryHeldBackQueries]).toEqual([15, 5]);
  resolve();
  await Promise.all(asked);
  expect([queue.heldBackQueries, queue.ordinaryHeldBackQueries]).toEqual([0, 0]);
});

describe('a statement that takes long, whatever its price', () => {
  const context = (address: number): RequestContext => {
    const ipAddress = `192.0.2.${address}`;
    return { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, cost: 20 };
  };

  /** A queue, a read that has a place for some time, and how many of 4 reads of a statement have places at once. */
  function queueOf(options: { places: number; placesOfSlow: number; serial?: boolean }) {
    const queue = new RequestQueue(options);
    let lent = 0;
    let most = 0;
    const used: number[] = [];
    queue.onUse((_client, ms) => used.push(ms));
    const read = (address: number, statement: string, heldMs: number, connectMs = 0) =>
      runWithRequestContext(context(address), async () => {
        const { leave } = await queue.enter(() => wait(connectMs), statement);
        lent += 1;
        most = Math.max(most, lent);
        await wait(heldMs);
        lent -= 1;
        leave();
      });
    async function atOnce(statement: string): Promise<number> {
      await read(100, 'SELECT ordinary', 1);
      most = 0;
      await Promise.all([1, 2, 3, 4].map((address) => read(address, statement, 5)));
      return most;
    }
    return { queue, read, atOnce, used };
  }

  it('has the places of costly requests until it was quick, and again once it was slow', async () => {
    const { read, atOnce } = queueOf({ places: 4, placesOfSlow: 1 });
    await read(5, 'SELECT other', 1);
    expect([await atOnce('SELECT slow'), await atOnce('SELECT slow')]).toEqual([1, 4]);
    await read(5, 'SELECT slow', 120);
    expect([await atOnce('SELECT other'), await atOnce('SELECT slow')]).toEqual([4, 1]);
    // On a busy machine one that is quick may seem slow once more.
    await expect.poll(() => atOnce('SELECT slow')).toBe(4);
  });

  it('is none for which a connection had to be opened, and its client had no more of the database', async () => {
    const { read, atOnce, used } = queueOf({ places: 4, placesOfSlow: 1 });
    await read(5, 'SELECT first', 1, 200);
    expect(used[0]).toBeLessThan(100);
    expect(await atOnce('SELECT first')).toBe(4);
  });

  it('is none for which no connection could be opened, and none is known as quick that was never run', async () => {
    const { queue, read, atOnce, used } = queueOf({ places: 4, placesOfSlow: 1 });
    await read(5, 'SELECT known', 1);
    const counted = used.length;
    const failed = async () => Promise.reject(await wait(200, new Error('refused')));
    const fails = (statement: string, open: () => Promise<unknown>) =>
      runWithRequestContext(context(6), () => expect(queue.enter(open, statement)).rejects.toThrow());
    await fails('SELECT known', failed);
    await fails('SELECT new', () => Promise.reject(new Error('refused at once')));
    expect(used.length).toBe(counted);
    expect([await atOnce('SELECT known'), await atOnce('SELECT new')]).toEqual([4, 1]);
  });

  it('has those of reads always where places are served one by one, as has every list', async () => {
    const { read, atOnce } = queueOf({ places: 4, placesOfSlow: 1, serial: true });
    for (let round = 0; round < 3; round += 1) await read(5, 'SELECT quick', 1);
    expect([await atOnce('SELECT quick'), await atOnce('SELECT slow')]).toEqual([2, 2]);
  });

  it('is a unit of work from the first time on, because it has its place while nothing is asked', async () => {
    const { atOnce } = queueOf({ places: 4, placesOfSlow: 1 });
    expect(await atOnce(unitOfWorkPlace)).toBe(1);
  });

  it('waits for no unit of work, because that keeps its place while the process is busy with others', async () => {
    const { read, atOnce } = queueOf({ places: 4, placesOfSlow: 1 });
    await read(5, 'SELECT slow', 120);
    await atOnce('SELECT other');
    const ended: string[] = [];
    const units = [1, 2, 3].map((address) => read(address, unitOfWorkPlace, 40).then(() => ended.push('unit')));
    await Promise.all([...units, read(4, 'SELECT slow', 5).then(() => ended.push('read'))]);
    expect(ended).toEqual(['read', 'unit', 'unit', 'unit']);
  });

  it('is none that takes long because many run beside it', async () => {
    const { read, atOnce } = queueOf({ places: 4, placesOfSlow: 1 });
    await read(5, 'SELECT page', 1);
    for (let round = 0; round < 3; round += 1)
      await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((address) => read(address, 'SELECT page', 60)));
    expect(await atOnce('SELECT page')).toBe(4);
  });
});
