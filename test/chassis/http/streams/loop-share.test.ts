import { describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { loopShare } from '../../../../src/chassis/http/streams/loop-share.ts';

const work = (ms: number) => {
  for (const since = performance.now(); performance.now() - since < ms; );
};

describe('loopShare', () => {
  it('lends turns in the order in which they were asked for, so that each has its first before any has its second', async () => {
    const begun: number[] = [];
    const work = async (index: number) => {
      for (let piece = 0; piece < 3; piece += 1) {
        await loopShare.turn();
        begun.push(index);
      }
    };
    await Promise.all([0, 1, 2, 3].map(work));
    expect(begun).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
  });

  it('lends the next one to the address that has had the least lately, which waits for none of those of who sends all the time', async () => {
    const from = (ipAddress: string, pieces: number, ms: number) =>
      runWithRequestContext({ requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress }, async () => {
        for (let piece = 0; piece < pieces; piece += 1) {
          await loopShare.turn();
          work(ms);
          begun.push(ipAddress);
        }
      });
    const begun: string[] = [];
    const bodies = Array.from({ length: 30 }, (_, index) => from(`192.0.2.${1 + (index % 2)}`, 1, 4));
    // Both have had a turn before the export begins.
    await expect.poll(() => new Set(begun).size, { interval: 1 }).toBe(2);
    const before = begun.length;
    await from('192.0.2.9', 5, 1);
    expect(begun.length - before).toBeLessThanOrEqual(5 + 6);
    await Promise.all(bodies);
    expect(begun).toHaveLength(35);
  });

  it('lends as many in one turn of the event loop as begin within 10 ms, and goes on in the next', async () => {
    let done = 0;
    const pieces = Array.from({ length: 40 }, async () => {
      await loopShare.turn();
      work(4);
      done += 1;
    });
    const byTurn: number[] = [];
    while (done < pieces.length) {
      const before = done;
      await new Promise((resolve) => setImmediate(resolve));
      byTurn.push(done - before);
    }
    await Promise.all(pieces);
    expect(Math.max(...byTurn)).toBeLessThanOrEqual(3);
    expect(Math.max(...byTurn)).toBeGreaterThan(0);
  });
});
