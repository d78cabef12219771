import { describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { CallRoom } from '../../../src/chassis/outbound/call-room.ts';

const forEver = new AbortController().signal;

/** A room, calls in it that go on until they are ended, and what became of them. */
function roomOf(atOnce: number, mayWait: number, kept?: number) {
  const room = new CallRoom(atOnce, mayWait, kept);
  const began: string[] = [];
  const ended: string[] = [];
  const underWay: (() => void)[] = [];
  const call = (name: string, ipAddress?: string, signal = forEver): void => {
    const work = () => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      underWay.push(resolve);
      return promise;
    };
    const run = () => room.run(work, signal);
    const context = { requestId: name, method: 'GET', url: '/', startTime: new Date(), ipAddress } as RequestContext;
    (ipAddress === undefined ? run() : runWithRequestContext(context, run)).then(
      () => ended.push(`${name} done`),
      (error: Error) => ended.push(`${name}: ${error.message}`),
    );
  };
  /** Ends the call that is under way for longest. */
  const endOne = async () => {
    underWay.shift()?.();
    await new Promise(setImmediate);
  };
  return { call, began, ended, endOne };
}

describe('CallRoom', () => {
  it('gives the next place to the client that has the fewest calls under way, among equals to who came first', async () => {
    const { call, began, endOne } = roomOf(3, 10);
    for (let index = 1; index <= 6; index += 1) call(`many ${index}`, '192.0.2.1');
    call('other', '192.0.2.2');
    call('job');
    call('network', '2001:db8::1');
    call('same network', '2001:db8::2');
    for (let count = 0; count < 10; count += 1) await endOne();
    const first = ['many 1', 'many 2', 'many 3'];
    // Where as many are under way of each, who came first is next.
    const then = ['other', 'job', 'many 4', 'network', 'many 5', 'many 6', 'same network'];
    expect(began).toEqual([...first, ...then]);
  });

  it('keeps some places for clients with no call under way, which would wait for all that began together', async () => {
    const { call, began, endOne } = roomOf(10, 10, 1);
    for (let index = 1; index <= 12; index += 1) call(`many ${index}`, '192.0.2.1');
    expect(began).toHaveLength(9);
    call('other', '192.0.2.2');
    call('second of other', '192.0.2.2');
    expect(began.slice(9)).toEqual(['other']);
    for (let count = 0; count < 4; count += 1) await endOne();
    expect(began.slice(10)).toEqual(['second of other', 'many 10', 'many 11']);
  });

  it('has the last call of the client with the most give way where too many wait, and refuses nobody else', async () => {
    const { call, began, ended, endOne } = roomOf(2, 2);
    for (let index = 1; index <= 5; index += 1) call(`many ${index}`, '192.0.2.1');
    await expect.poll(() => ended).toEqual(['many 5: too many calls']);
    call('other', '192.0.2.2');
    await expect.poll(() => ended).toEqual(['many 5: too many calls', 'many 4: too many calls']);
    await endOne();
    expect(began).toEqual(['many 1', 'many 2', 'other']);
    for (let count = 0; count < 3; count += 1) await endOne();
    expect(ended.slice(2)).toEqual(['many 1 done', 'many 2 done', 'other done', 'many 3 done']);
  });

  it('begins nothing that was aborted while it waited, and gives its place to the next', async () => {
    const { call, began, ended, endOne } = roomOf(1, 2);
    const client = new AbortController();
    call('first', '192.0.2.1');
    call('left', '192.0.2.2', client.signal);
    client.abort(new Error('gone'));
    call('late', '192.0.2.3', client.signal);
    call('next', '192.0.2.4');
    call('last', '192.0.2.5');
    await endOne();
    await endOne();
    await endOne();
    expect(began).toEqual(['first', 'next', 'last']);
    expect(ended.sort()).toEqual(['first done', 'last done', 'late: gone', 'left: gone', 'next done']);
  });
});
