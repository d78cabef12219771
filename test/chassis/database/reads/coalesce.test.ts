import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Coalescer, raiseShared } from '../../../../src/chassis/database/reads/coalesce.ts';
import { ConflictException } from '../../../../src/chassis/errors/exceptions.ts';
import { tryAgain } from '../../../../src/chassis/errors/try-again.ts';
import { raised } from '../../../support/raised.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('Coalescer', () => {
  it('keeps no outcome for what lasts longer than the read, such as the timer of a connection that it gave back', async () => {
    const coalescer = new Coalescer();
    let timer: NodeJS.Timeout | undefined;
    const read = async () => {
      await new Promise(setImmediate);
      timer = setTimeout(() => undefined, 60_000);
      return { text: 'x'.repeat(1000) };
    };
    const outcome = new WeakRef(await coalescer.run('a', read));
    await new Promise(setImmediate);
    collectGarbage();
    expect(outcome.deref()).toBeUndefined();
    clearTimeout(timer);
  });

  it('runs equal reads of one turn once and gives all the same result', async () => {
    const coalescer = new Coalescer();
    const result = {};
    const read = async () => result;
    const results = await Promise.all([coalescer.run('a', read), coalescer.run('a', read), coalescer.run('b', read)]);
    expect(results).toEqual([result, result, result]);
    expect(results[0]).toBe(results[1]);
    expect(coalescer.counts).toEqual({ asked: 3, started: 2 });
  });

  it('never lets a caller join a run that has started', async () => {
    const coalescer = new Coalescer();
    const gate = Promise.withResolvers<string>();
    const first = coalescer.run('a', () => gate.promise);
    await new Promise(setImmediate);
    const second = coalescer.run('a', async () => 'fresh');
    gate.resolve('stale');
    expect(await first).toBe('stale');
    expect(await second).toBe('fresh');
  });

  it('keeps a failure to those who shared it, also one raised before the first await', async () => {
    const coalescer = new Coalescer();
    const failure = new Error('down');
    const failing = () => {
      throw failure;
    };
    const shared = [coalescer.run('a', failing), coalescer.run('a', failing)];
    const other = coalescer.run('b', async () => 1);
    const results = await Promise.allSettled(shared);
    expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual([failure, failure]);
    expect(await other).toBe(1);
    expect(await coalescer.run('a', async () => 2)).toBe(2);
  });

  it('gives the outcome to many callers in several turns of the event loop, so that none lasts as long as all of their work', async () => {
    const coalescer = new Coalescer();
    const served: number[] = [0];
    let isOver = false;
    const nextTurn = () => {
      served.push(0);
      if (!isOver) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    const outcomes = ['given', 'raised'].map((name) =>
      Array.from({ length: 100 }, async () => {
        const read = async () => {
          if (name === 'raised') throw new Error(name);
          return name;
        };
        const outcome = await coalescer.run(name, read).catch(({ message }: Error) => message);
        const until = performance.now() + 3;
        while (performance.now() < until);
        served[served.length - 1] = (served.at(-1) ?? 0) + 1;
        return outcome;
      }),
    );
    const [given, raised] = await Promise.all(outcomes.map((all) => Promise.all(all)));
    isOver = true;
    expect([new Set(given), new Set(raised)]).toEqual([new Set(['given']), new Set(['raised'])]);
    expect(coalescer.counts).toEqual({ asked: 200, started: 2 });
    // Eight of each in their first turns, and then fewer.
    expect(Math.max(...served)).toBeLessThanOrEqual(24);
  });

  it('runs in the context of the caller that asked first and gives each caller back its own', async () => {
    const coalescer = new Coalescer();
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const ask = (name: string) =>
      storage.run(name, async () => {
        const ranIn = await coalescer.run('key', async () => {
          await new Promise(setImmediate);
          return storage.getStore();
        });
        seen.push([name, ranIn, storage.getStore()]);
      });
    const first = [ask('one'), ask('two')];
    await new Promise(setImmediate);
    await Promise.all([...first, ask('three'), ask('four')]);
    expect(seen).toEqual([
      ['one', 'one', 'one'],
      ['two', 'one', 'two'],
      ['three', 'three', 'three'],
      ['four', 'three', 'four'],
    ]);
  });

  it('lets every client read its own writes and forgets every key, whatever the timing', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b'),
      before: fc.nat(4),
      during: fc.nat(4),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const coalescer = new Coalescer();
        const store: Record<string, number> = { a: 0, b: 0 };
        const turns = async (count: number) => {
          for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
        };
        const client = async ({ key, before, during, fails }: (typeof steps)[number]) => {
          await turns(before);
          store[key] = (store[key] ?? 0) + 1;
          const written = store[key];
          const read = coalescer.run(key, async () => {
            const value = store[key] ?? 0;
            await turns(during);
            if (fails) throw new Error(key);
            return { key, value };
          });
          const result = await read.catch((error: Error) => ({ key: error.message, value: Number.POSITIVE_INFINITY }));
          expect(result.key).toBe(key);
          expect(result.value).toBeGreaterThanOrEqual(written);
        };
        await Promise.all(steps.map(client));
        await turns(1);
        expect(coalescer.size).toBe(0);
        expect(coalescer.counts.started).toBeLessThanOrEqual(steps.length);
      }),
      { numRuns: 200 },
    );
  });
});

it.each([
  ['none of a refusal', tryAgain('busy'), false],
  ['one of its own of a failure', new ConflictException('taken'), true],
])('an error of a shared read has a stack for each caller: %s', async (_which, error, has) => {
  const own = await raised(() => raiseShared(error));
  expect(own).not.toBe(error);
  expect(own).toMatchObject({ message: error.message, statusCode: error.statusCode });
  expect((own as Error).stack?.includes('\n    at ')).toBe(has);
});
