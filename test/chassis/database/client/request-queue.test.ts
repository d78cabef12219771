import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';

it('RequestQueue counts the streams of an address as one client, so that many accounts get no turns before others', async () => {
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
  const streams = ['a', 'b', 'c'].map((userId) => visit({ ipAddress: '192.0.2.1', userId, isStreaming: true }));
  await Promise.all([...streams, visit({ ipAddress: '192.0.2.2' })]);
  expect(begun).toEqual(['a', 'other', 'b', 'c']);
});
