import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';

/** Twice what may be had without having had much, so that it is still much after a pause of the machine. */
const muchMs = 1000;

/** A request from an address. */
function requestOf(ipAddress: string, more: { cost: number; isStreaming?: boolean }): RequestContext {
  return { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, ...more };
}

describe('reads where places are served one by one', () => {
  /** A queue, and who has places of it, by a letter for each address. */
  function queueOf(timeoutMs?: number) {
    const queue = new RequestQueue({ places: 16, placesOfSlow: 1, serial: true, timeoutMs });
    const turns = new Map<string, () => void>();
    const beside: (boolean | undefined)[] = [];
    const late: string[] = [];
    const enter = async (
      address: string,
      cost = 100,
      statement: string | undefined = 'SELECT slow',
      isStreaming = false,
    ) => {
      const open = async (isBeside?: boolean) => void beside.push(isBeside);
      const context = requestOf(address, { cost, isStreaming });
      const entered = runWithRequestContext(context, () => queue.enter(open, statement));
      entered.then(
        ({ leave }) => turns.set(address, leave),
        () => late.push(address),
      );
      await wait(5);
    };
    const end = async (address: string) => {
      turns.get(address)?.();
      turns.delete(address);
      await wait(5);
    };
    const served = () => [...turns.keys()].sort().join('');
    /** Has these addresses had much. */
    const makeHeavy = async (...addresses: string[]) => {
      for (const address of addresses) await enter(address);
      await wait(muchMs);
      for (const address of addresses) await end(address);
    };
    return { queue, enter, end, served, makeHeavy, beside, late };
  }

  it('are served beside the others, two at once', async () => {
    const { enter, end, served, beside } = queueOf();
    for (const address of ['a', 'b', 'c']) await enter(address);
    await enter('ordinary', 1);
    expect([served(), beside]).toEqual(['abordinary', [true, true, undefined]]);
    await end('a');
    expect(served()).toBe('bcordinary');
  });

  it('of those who had much lately are served one by one, so that who had little finds a place', async () => {
    const { enter, end, served, makeHeavy } = queueOf();
    await makeHeavy('x', 'y');
    for (const address of ['x', 'y', 'a']) await enter(address);
    expect(served()).toBe('ax');
    await end('x');
    expect(served()).toBe('ay');
  });

  it('do not count as use of the database while their answers may wait for the process, so that a busy one makes nobody heavy', async () => {
    const { queue, enter, end } = queueOf();
    await enter('a');
    const busyUntil = performance.now() + muchMs;
    while (performance.now() < busyUntil);
    await end('a');
    expect(queue.mayTakeLong(requestOf('a', { cost: 10 }))).toBe(false);
  });

  it('of who had little are not told to wait for those who had much, because they go first', async () => {
    const { queue, enter, end, makeHeavy } = queueOf();
    await makeHeavy('x', 'y');
    await enter('x');
    await wait(100);
    await end('x');
    for (const address of ['x', 'y']) await enter(address);
    const heldBackMs = (address: string) => queue.heldBackMs(requestOf(address, { cost: 200 }), performance.now());
    expect(heldBackMs('x')).toBeGreaterThan(20);
    expect(heldBackMs('a')).toBe(0);
  });

  it('of those who had little may have all while the others ask for nothing', async () => {
    const { enter, served, makeHeavy } = queueOf();
    await makeHeavy('x');
    for (const address of ['a', 'b', 'x']) await enter(address);
    expect(served()).toBe('ab');
  });

  it('count with those who had much once they had, whatever they had when they asked', async () => {
    const { enter, end, served, makeHeavy } = queueOf();
    await makeHeavy('x');
    await enter('x');
    await enter('y');
    await enter('y');
    await enter('a');
    await wait(muchMs);
    await end('y');
    expect(served()).toBe('ax');
    await end('x');
    expect(served()).toBe('ay');
  });

  it('of equals who asks for less goes first', async () => {
    const { enter, end, served } = queueOf();
    for (const address of ['a', 'b']) await enter(address);
    await enter('c', 90);
    await enter('d', 20);
    await end('a');
    expect(served()).toBe('bd');
  });

  it('that are charged with more than an ordinary request are served one by one, so that the others find a place', async () => {
    const { enter, end, served } = queueOf();
    await enter('a', 500);
    await enter('b', 500);
    await enter('c');
    expect(served()).toBe('ac');
    await end('a');
    expect(served()).toBe('bc');
  });

  it('that may take long have the next place where the others have both', async () => {
    const { enter, end, served } = queueOf();
    for (const address of ['a', 'b']) await enter(address);
    await enter('long', 500);
    await enter('c');
    await end('a');
    expect(served()).toBe('blong');
  });

  it('of streams have turns with dear ones, so that of three at once none waits for another on its thread', async () => {
    const { enter, end, served } = queueOf();
    await enter('stream', 100, 'SELECT slow', true);
    await enter('dear', 500);
    await enter('a');
    expect(served()).toBe('astream');
    await end('stream');
    expect(served()).toBe('adear');
  });

  it('of streams are priced by one part, and not by all that was sent before', async () => {
    const { enter, end, served } = queueOf();
    await enter('dear', 500, 'SELECT dear');
    await enter('other', 500, 'SELECT other');
    await enter('stream', 6000, 'SELECT part', true);
    await end('dear');
    expect(served()).toBe('stream');
  });

  it('may take long that are dear or of a stream, so that ordinary lists of much text do not wait for them', () => {
    const { queue } = queueOf();
    const which = [{ cost: 100 }, { cost: 101 }, { cost: 5, isStreaming: true }];
    expect(which.map((one) => queue.mayTakeLong(requestOf('a', one)))).toEqual([false, true, true]);
  });

  it('of streams wait for as long as it takes, because an answer that has begun would be cut', async () => {
    const { enter, end, served, late } = queueOf(50);
    await enter('dear', 500);
    await enter('other', 500);
    await enter('stream', 100, 'SELECT slow', true);
    await wait(100);
    expect(late).toEqual(['other']);
    await end('dear');
    expect(served()).toBe('stream');
  });

  it('go by what is known of them when their turn comes, and not by what was when they asked', async () => {
    const { enter, end, served } = queueOf();
    await enter('a', 900, 'SELECT quick');
    await end('a');
    await enter('y', 900, 'SELECT quick');
    await enter('b', 900, 'SELECT quick');
    await enter('c', 700, 'SELECT new');
    await wait(120);
    await end('y');
    expect(served()).toBe('c');
  });

  it('of an address that had much go behind dearer ones of others', async () => {
    const { enter, end, served, makeHeavy } = queueOf();
    await makeHeavy('x');
    await enter('y', 500);
    await enter('x', 20);
    await enter('z', 500);
    await end('y');
    expect(served()).toBe('z');
  });

  it('go before cheaper ones of which nothing is known, where their statement was quick lately', async () => {
    const { enter, end, served } = queueOf();
    await enter('a', 500, 'SELECT quick');
    await end('a');
    await enter('y', 500);
    await enter('b', 400, 'SELECT new');
    await enter('c', 500, 'SELECT quick');
    await end('y');
    expect(served()).toBe('c');
  });

  it('are told apart from writes, which are served with the others', async () => {
    const { enter, end, served, beside, queue } = queueOf();
    const write = requestOf('w', { cost: 500 });
    const { leave } = await runWithRequestContext(write, () => queue.enter(async (is) => void beside.push(is)));
    for (const address of ['a', 'b']) await enter(address);
    expect([served(), beside]).toEqual(['ab', [undefined, true, true]]);
    leave();
    await end('a');
  });

  it.each(['UPDATE notes SET text = ? RETURNING text', 'WITH old AS (SELECT 1) DELETE FROM notes RETURNING text'])(
    'are told apart from what gives rows and may write: %s',
    async (statement) => {
      const { enter, beside } = queueOf();
      await enter('a', 100, statement);
      expect(beside).toEqual([undefined]);
    },
  );

  it('need no place of those that write, which a transaction and what waits for it may have', async () => {
    const { enter, served, queue } = queueOf();
    for (let write = 0; write < 16; write += 1) {
      await runWithRequestContext(requestOf(`w${write}`, { cost: 1 }), () => queue.enter(async () => undefined));
    }
    for (const address of ['a', 'b', 'c']) await enter(address);
    expect(served()).toBe('ab');
  });

  it('are timed by themselves, whatever ends beside them meanwhile', async () => {
    const { enter, end, queue } = queueOf();
    await enter('x');
    for (let turn = 0; turn < 4; turn += 1) {
      await wait(muchMs / 4);
      await enter('ordinary', 1, 'SELECT 1');
      await end('ordinary');
    }
    await end('x');
    expect(queue.hadLately('x', performance.now())).toBeGreaterThan(muchMs / 2);
  });
});
