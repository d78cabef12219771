import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { longReads } from '../../../../src/chassis/database/client/long-reads.ts';
import { charged } from '../../../../src/chassis/http/answers/record-room.ts';

const turns = { reads: { mostBytes: 1000 }, requests: { mayTakeLong: (_context?: RequestContext) => false } };

/** Reads twice for an answer, which is made once `made` is resolved. */
function answer(reads: ReturnType<typeof longReads>, ipAddress: string, begun: string[]) {
  const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress };
  const { promise, resolve } = Promise.withResolvers<void>();
  const list = {};
  const ended = runWithRequestContext(context, () =>
    charged(list, {}, {} as Response, async () => {
      await reads.run(async () => void begun.push(`${ipAddress} first`));
      await reads.run(async () => void begun.push(`${ipAddress} second`));
      await promise;
    }),
  );
  return { make: resolve, ended };
}

describe('reads of much text that wait for memory', () => {
  it('begin one after the other, each once the answer before is made, which may read further', async () => {
    const reads = longReads(undefined, turns);
    const begun: string[] = [];
    const [one, other] = ['192.0.2.1', '192.0.2.2'].map((address) => answer(reads, address, begun));
    await expect.poll(() => begun).toEqual(['192.0.2.1 first', '192.0.2.1 second']);
    one?.make();
    await one?.ended;
    await expect.poll(() => begun.slice(2)).toEqual(['192.0.2.2 first', '192.0.2.2 second']);
    other?.make();
    await other?.ended;
  });

  it('give their place back also where the answer ended while they waited for it, because its client went', async () => {
    const reads = longReads(undefined, turns);
    const begun: string[] = [];
    const [one, next] = ['192.0.2.1', '192.0.2.3'].map((address) => answer(reads, address, begun));
    await expect.poll(() => begun).toHaveLength(2);
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: '192.0.2.2' };
    let shared: Promise<unknown> | undefined;
    await runWithRequestContext(context, () =>
      charged({}, {}, {} as Response, async () => {
        shared = reads.run(async () => void begun.push('shared'));
      }),
    );
    one?.make();
    next?.make();
    await Promise.all([one?.ended, shared, next?.ended]);
    expect(begun).toContain('shared');
    await reads.run(async () => void begun.push('another'));
    expect(begun.at(-1)).toBe('another');
  });

  it('of one answer need one place, however many it asks for at once', async () => {
    const reads = longReads(undefined, turns);
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: '192.0.2.1' };
    const begun: number[] = [];
    const read = (index: number) => reads.run(async () => void begun.push(index));
    const work = () => charged({}, {}, {} as Response, async () => void (await Promise.all([1, 2, 3].map(read))));
    await runWithRequestContext(context, work);
    expect(begun.toSorted()).toEqual([1, 2, 3]);
  });

  it('begin once what was read before has come where no answer is made of it, as in a stream or a job', async () => {
    const reads = longReads(undefined, turns);
    const begun: number[] = [];
    await Promise.all([1, 2, 3].map((index) => reads.run(async () => void begun.push(index))));
    expect(begun).toEqual([1, 2, 3]);
  });

  it('of who had much lately keep nobody else waiting', async () => {
    const heavy = new Set(['192.0.2.1']);
    const mayTakeLong: typeof turns.requests.mayTakeLong = (context) => heavy.has(context?.ipAddress ?? '');
    const reads = longReads(undefined, { ...turns, requests: { mayTakeLong } });
    const begun: string[] = [];
    const ofHeavy = answer(reads, '192.0.2.1', begun);
    const ofLight = answer(reads, '192.0.2.2', begun);
    const waiting = answer(reads, '192.0.2.3', begun);
    await expect.poll(() => begun).toHaveLength(4);
    expect(new Set(begun.map((name) => name.slice(0, 9)))).toEqual(new Set(['192.0.2.1', '192.0.2.2']));
    // It had much while it waited.
    heavy.add('192.0.2.3');
    ofLight.make();
    await ofLight.ended;
    expect(begun).toHaveLength(4);
    ofHeavy.make();
    waiting.make();
    await Promise.all([ofHeavy.ended, waiting.ended]);
    expect(begun).toHaveLength(6);
  });
});
