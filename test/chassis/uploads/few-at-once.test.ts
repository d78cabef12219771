import { describe, expect, it } from 'vitest';
import { FewAtOnce } from '../../../src/chassis/uploads/few-at-once.ts';

describe('FewAtOnce', () => {
  it('runs no more than it may, the others in the order in which they came, also after one that failed', async () => {
    const few = new FewAtOnce(2);
    const began: number[] = [];
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const outcomes = ends.map(({ promise }, index) =>
      few
        .run(() => {
          began.push(index);
          return promise;
        })
        .catch((error: Error) => error.message),
    );
    await Promise.resolve();
    expect(began).toEqual([0, 1]);
    ends[1]?.reject(new Error('broken'));
    expect(await outcomes[1]).toBe('broken');
    await expect.poll(() => began).toEqual([0, 1, 2]);
    for (const { resolve } of ends) resolve();
    await Promise.all(outcomes);
    expect(began).toEqual([0, 1, 2, 3, 4]);
    await expect(few.run(async () => 'free again')).resolves.toBe('free again');
  });
});
