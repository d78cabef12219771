import { describe, expect, it } from 'vitest';
import { FewAtOnce } from '../../../src/chassis/admission/few-at-once.ts';
import { ServiceUnavailableException } from '../../../src/chassis/errors/exceptions.ts';

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

  it('refuses at once, with Retry-After, what would wait behind as many as may', async () => {
    const few = new FewAtOnce(1, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const admitted = [few.run(() => promise), few.run(async () => 'waited')];
    const refused = few.run(async () => 'never');
    await expect(refused).rejects.toBeInstanceOf(ServiceUnavailableException);
    await expect(refused).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
    resolve();
    await expect(Promise.all(admitted)).resolves.toEqual([undefined, 'waited']);
  });
});
