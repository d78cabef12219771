import { describe, expect, it } from 'vitest';
import { runWithRequestContext, uninterrupted } from '../../../../src/chassis/context/request-context.ts';
import { SharedRun } from '../../../../src/chassis/context/shared-run.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';

const gone = { name: 'RequestAbandonedException', message: 'gone' };

function request(deadline?: number): OpenRequest {
  const [userAgent, ipAddress] = [undefined, '192.0.2.1'];
  return new OpenRequest({ requestId: 'r', method: 'GET', url: '/', userAgent, ipAddress, deadline });
}

/** A queue whose only place is taken until `free` is called, and what was begun in it since. */
async function fullQueue() {
  const queue = new RequestQueue({ places: 1, placesOfSlow: 1 });
  const { leave: free } = await queue.enter(async () => undefined);
  const begun: string[] = [];
  const visit = async (name: string) => {
    const { leave } = await queue.enter(async () => void begun.push(name), 'SELECT');
    leave();
  };
  return { queue, free, begun, visit };
}

describe('a request that waits for the database when its client goes', () => {
  it('leaves the queue at once, and those behind it go on', async () => {
    const { queue, free, begun, visit } = await fullQueue();
    const [leaving, staying] = [request(), request()];
    const left = runWithRequestContext(leaving, () => visit('leaving'));
    const stayed = runWithRequestContext(staying, () => visit('staying'));
    expect(queue.waitingQueries).toBe(2);
    leaving.abort('gone');
    await expect(left).rejects.toMatchObject(gone);
    expect(queue.waitingQueries).toBe(1);
    free();
    await stayed;
    expect(begun).toEqual(['staying']);
  });

  it('is listened to no longer than it waits: a stream may wait a thousand times', async () => {
    const { free, visit } = await fullQueue();
    const stream = request();
    let listeners = 0;
    const onAbort = stream.onAbort.bind(stream);
    stream.onAbort = (listener) => {
      listeners += 1;
      const stop = onAbort(listener);
      return () => {
        listeners -= 1;
        stop();
      };
    };
    const visits = ['one', 'two', 'three'].map((name) => runWithRequestContext(stream, () => visit(name)));
    expect(listeners).toBe(3);
    free();
    await Promise.all(visits);
    expect(listeners).toBe(0);
  });

  it('goes on within uninterrupted', async () => {
    const { free, begun, visit } = await fullQueue();
    const leaving = request();
    const ended = runWithRequestContext(leaving, () => uninterrupted(() => visit('ended')));
    leaving.abort('gone');
    free();
    await ended;
    expect(begun).toEqual(['ended']);
  });

  it('leaves a shared read to the others, and ends it with the last', async () => {
    const { queue, free, begun, visit } = await fullQueue();
    const [one, other] = [request(), request()];
    const run = runWithRequestContext(one, () => new SharedRun(() => visit('shared')));
    const joined = [one, other].map((context) => runWithRequestContext(context, () => run.join(undefined)));
    const outcomes = Promise.allSettled(joined);
    void runWithRequestContext(one, () => run.perform());
    expect(queue.waiting).toBe(1);
    one.abort('gone');
    await expect(joined[0]).rejects.toMatchObject(gone);
    expect([queue.waiting, run.isOpen]).toEqual([1, true]);
    other.abort('gone');
    expect(run.isOpen).toBe(false);
    expect(await outcomes).toMatchObject([{ reason: gone }, { reason: gone }]);
    free();
    expect([queue.waiting, begun]).toEqual([0, []]);
  });

  it('begins nothing where its deadline has passed when its turn comes', async () => {
    const { free, begun, visit } = await fullQueue();
    const late = request(Date.now() + 5);
    const outcome = runWithRequestContext(late, () => visit('late'));
    await expect.poll(() => Date.now() >= (late.deadline as number)).toBe(true);
    free();
    await expect(outcome).rejects.toMatchObject({ statusCode: 503, message: 'The deadline of the request has passed' });
    expect(begun).toEqual([]);
  });
});
