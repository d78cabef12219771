import { describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { pauseMs, withRetries } from '../../../../src/chassis/database/work/retries.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';

const conflict = Object.assign(new Error('in the way'), { name: 'PrismaClientKnownRequestError', code: 'P2034' });

function request(deadline?: number): OpenRequest {
  const nothing = { userAgent: undefined, ipAddress: undefined };
  return new OpenRequest({ requestId: 'a', method: 'POST', url: '/', ...nothing, deadline });
}

describe('withRetries', () => {
  it('pauses for a random time, from nothing to a bound that doubles and ends', () => {
    expect([0, 1, 2, 3, 4, 5, 100].map((tried) => pauseMs(tried, 1))).toEqual([20, 40, 80, 160, 320, 500, 500]);
    expect([pauseMs(3, 0), pauseMs(3, 0.5)]).toEqual([0, 80]);
  });

  it('tries again as often as it may, and raises the last conflict', async () => {
    let attempts = 0;
    const always = withRetries(3, () => {
      attempts += 1;
      return Promise.reject(conflict);
    });
    await expect(always).rejects.toBe(conflict);
    expect(attempts).toBe(4);
    const succeedsAtLast = async () => {
      attempts += 1;
      if (attempts < 7) throw conflict;
      return attempts;
    };
    expect(await withRetries(3, succeedsAtLast)).toBe(7);
  });

  it('tries nothing else again', async () => {
    let attempts = 0;
    const failing = withRetries(3, () => {
      attempts += 1;
      return Promise.reject(new RangeError('mine'));
    });
    await expect(failing).rejects.toThrow('mine');
    expect(attempts).toBe(1);
  });

  it('ends before the deadline of its request, and when its client has gone', async () => {
    const started = Date.now();
    const late = runWithRequestContext(request(started + 50), () => withRetries(1000, () => Promise.reject(conflict)));
    await expect(late).rejects.toBe(conflict);
    expect(Date.now()).toBeLessThan(started + 1000);
    const gone = request();
    const abandoned = runWithRequestContext(gone, () =>
      withRetries(3, () => {
        gone.abort('gone');
        return Promise.reject(conflict);
      }),
    );
    await expect(abandoned).rejects.toMatchObject({ name: 'RequestAbandonedException' });
  });
});
