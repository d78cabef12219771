import { describe, expect, it } from 'vitest';
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
