import { describe, expect, it } from 'vitest';
import { FewAtOnce } from '../../../src/chassis/admission/few-at-once.ts';
import { type RequestContext, runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { ServiceUnavailableException } from '../../../src/chassis/errors/exceptions.ts';

describe('FewAtOnce', () => {
  it('runs no more than it may, those of one client in the order in which they came, also after one that failed', async () => {
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

  it('gives the next turn to the client that had the fewest lately, and then one to each', async () => {
    const { had, ask, finish } = lineOf(10);
    await had('192.0.2.1', 2);
    void ask('third of one', { ipAddress: '192.0.2.1' });
    void ask('first of two', { ipAddress: '192.0.2.2' });
    void ask('second of two', { ipAddress: '192.0.2.2' });
    void ask('first of a network', { ipAddress: '2001:db8::1' });
    void ask('second of a network', { ipAddress: '2001:db8::2' });
    expect(await finish()).toEqual([
      'first of two',
      'first of a network',
      'third of one',
      'second of two',
      'second of a network',
    ]);
  });

  it('counts long work for as many turns as it says', async () => {
    const { had, ask, finish } = lineOf(10);
    await had('192.0.2.1', 3);
    await had('192.0.2.2', 1, 8);
    void ask('ninth of two', { ipAddress: '192.0.2.2' });
    void ask('fourth of one', { ipAddress: '192.0.2.1' });
    expect(await finish()).toEqual(['fourth of one', 'ninth of two']);
  });

  it('gives every second turn to known clients and to others, however many turns either had', async () => {
    const { had, ask, finish } = lineOf(10);
    await had('192.0.2.1', 9);
    for (const name of ['unknown 1', 'unknown 2', 'unknown 3']) void ask(name, { ipAddress: name });
    void ask('known that asks much', { ipAddress: '192.0.2.1' }, true);
    void ask('known', { ipAddress: '192.0.2.2' }, true);
    expect(await finish()).toEqual(['known', 'unknown 1', 'known that asks much', 'unknown 2', 'unknown 3']);
  });

  it.each([true, false])(
    'refuses none of the group that has fewer waiting, with isKnown %s for the many',
    async (isKnown) => {
      const { had, ask, finish } = lineOf(4);
      await had('192.0.2.1', 1);
      const many = Array.from({ length: 8 }, (_, index) =>
        ask('one of many', { ipAddress: `198.51.100.${index}` }, isKnown),
      );
      const one = ask('one', { ipAddress: '192.0.2.1' }, !isKnown);
      const outcomes = Promise.allSettled(many);
      const began = await finish();
      await one;
      expect(began.indexOf('one')).toBeLessThan(2);
      expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(5);
    },
  );

  it('has the last of the client with the most turns give way where more would wait than may', async () => {
    const { ask, finish } = lineOf(3);
    const [one, two, three, four] = ['one', 'two', 'three', 'four'].map((name) =>
      ask(name, { ipAddress: '192.0.2.1' }),
    );
    const newcomer = ask('newcomer', { ipAddress: '192.0.2.2' });
    for (const refused of [three, four]) {
      await expect(refused).rejects.toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
    }
    expect(await finish()).toEqual(['one', 'newcomer', 'two']);
    await Promise.all([one, two, newcomer]);
  });

  it('begins nothing for a client that has gone or whose deadline has passed', async () => {
    const { ask, finish } = lineOf(10);
    const requests: Partial<RequestContext>[] = [{}, {}, {}];
    const [gone, late, waits] = requests.map((request, index) => ask(`request ${index}`, request));
    Object.assign(requests[0] as object, { abortReason: 'gone' });
    Object.assign(requests[1] as object, { deadline: Date.now() - 1 });
    const began = finish();
    await expect(gone).rejects.toMatchObject({ statusCode: 499 });
    await expect(late).rejects.toMatchObject({ statusCode: 503 });
    await waits;
    expect(await began).toEqual(['request 2']);
  });

  it('has a client that has gone make room for others at once', async () => {
    const { ask, finish } = lineOf(1);
    const request: { abortReason?: string } = {};
    const gone = ask('gone', request);
    request.abortReason = 'gone';
    const other = ask('other', { ipAddress: '192.0.2.1' });
    await expect(gone).rejects.toMatchObject({ statusCode: 499 });
    expect(await finish()).toEqual(['other']);
    await other;
  });
});

/** A line for one turn at a time, which somebody has until `finish`; that gives who began after it. */
function lineOf(mayWait: number) {
  const few = new FewAtOnce(1, mayWait);
  const began: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const within = <T>(request: Partial<RequestContext>, work: () => Promise<T>) =>
    runWithRequestContext(
      Object.assign(request, { requestId: 'r', method: 'GET', url: '/', startTime: new Date() }) as RequestContext,
      work,
    );
  let first: Promise<void> | undefined;
  const hold = () => (first ??= few.run(() => promise));
  return {
    async had(ipAddress: string, times: number, turns = 1): Promise<void> {
      for (let time = 0; time < times; time += 1) {
        await within({ ipAddress }, () => few.run(async () => undefined, { turns }));
      }
    },
    ask(name: string, request: Partial<RequestContext>, isKnown = false): Promise<void> {
      void hold();
      return within(request, () => few.run(async () => void began.push(name), { isKnown }));
    },
    async finish(): Promise<string[]> {
      resolve();
      await first;
      await few.run(async () => undefined);
      return began;
    },
  };
}
