import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { innermostUnit } from '../../../../src/chassis/database/client/current-work.ts';
import { ConflictException } from '../../../../src/chassis/errors/exceptions.ts';
import { databaseProviders } from '../../../support/empty-database.ts';
import { categoryNames, openShop } from '../../../support/open-shop.ts';
import { raised } from '../../../support/raised.ts';

describe.each(databaseProviders)('a nested unit of work on %s', (provider) => {
  const shop = openShop(provider);

  it('is undone alone when its failure is caught, and the outer one goes on', async () => {
    await shop.categories.unitOfWork(async () => {
      await shop.categories.create({ name: 'outer' });
      const failing = shop.categories.unitOfWork(async () => {
        await shop.categories.create({ name: 'inner' });
        await shop.categories.create({ name: 'outer' });
      });
      expect(await raised(() => failing)).toBeInstanceOf(ConflictException);
      expect(await shop.categories.findMany(categoryNames)).toEqual([{ name: 'outer' }]);
      await shop.categories.unitOfWork(() => shop.categories.create({ name: 'second' }));
    });
    expect(await shop.stored()).toEqual(['outer', 'second']);
  });

  it('undoes the outer one when nobody catches its failure, however deep', async () => {
    const failure = new RangeError('mine');
    const failing = shop.categories.unitOfWork(async () => {
      await shop.categories.create({ name: 'a' });
      await shop.categories.unitOfWork(async () => {
        await shop.categories.create({ name: 'b' });
        await shop.categories.unitOfWork(async () => {
          await shop.categories.create({ name: 'c' });
          throw failure;
        });
      });
    });
    await expect(failing).rejects.toBe(failure);
    expect(await shop.stored()).toEqual([]);
  });

  it('leaves no savepoint behind when it is undone, so that a thousand of them cost as much each as one', async () => {
    const failing = shop.categories.unitOfWork(async () => {
      await raised(() => shop.categories.unitOfWork(() => Promise.reject(new RangeError('mine'))));
      await innermostUnit()?.driver.rollbackToSavepoint?.('unit_1');
    });
    await expect(failing).rejects.toMatchObject({
      cause: { cause: { originalMessage: expect.stringMatching(/no such savepoint|does not exist/) } },
    });
  });

  it('may be nested as deep as a tree', async () => {
    const nest = async (depth: number): Promise<void> => {
      await shop.categories.create({ name: String(depth) });
      if (depth < 60) await shop.categories.unitOfWork(() => nest(depth + 1));
    };
    await shop.categories.unitOfWork(() => nest(1));
    expect(await shop.categories.count()).toBe(60);
  });

  it('takes turns with those beside it and with queries of the outer one', async () => {
    await shop.categories.unitOfWork(async () => {
      await shop.categories.create({ name: 'outer' });
      const inner = (name: string, fails: boolean) =>
        shop.categories.unitOfWork(async () => {
          await shop.categories.create({ name: `${name} 1` });
          await setImmediate();
          await shop.categories.create({ name: fails ? 'outer' : `${name} 2` });
        });
      const results = await Promise.allSettled([
        inner('a', true),
        shop.categories.create({ name: 'outer too' }),
        inner('b', false),
        inner('c', true),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'rejected']);
    });
    expect(await shop.stored()).toEqual(['b 1', 'b 2', 'outer', 'outer too']);
  });

  it('runs to its end before the next that was begun with Promise.all, at every depth', async () => {
    const order: string[] = [];
    const pair = (name: string) =>
      shop.categories.unitOfWork(async () => {
        order.push(`${name} begins`);
        await Promise.all([
          shop.categories.unitOfWork(() => shop.categories.create({ name: `${name} 1` })),
          shop.categories.unitOfWork(() => shop.categories.create({ name: `${name} 2` })),
          shop.categories.create({ name: `${name} 3` }),
        ]);
        order.push(`${name} ends`);
      });
    await shop.categories.unitOfWork(() => Promise.all([pair('a'), pair('b')]));
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(await shop.stored()).toEqual(['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'b 3']);
  });

  it('ends after the time-out where two wait for each other, and says how to write it instead', async () => {
    const never = Promise.withResolvers<void>();
    const waiting = shop.categories.unitOfWork(
      () =>
        Promise.all([
          shop.categories.unitOfWork(async () => {
            await shop.categories.create({ name: 'a' });
            await never.promise;
          }),
          shop.categories.unitOfWork(async () => never.resolve()),
        ]),
      { timeoutMs: 100 },
    );
    expect(await raised(() => waiting)).toMatchObject({
      name: 'DatabaseUnavailableException',
      cause: { message: expect.stringMatching(/^1 queries or nested units of work waited .* in one unit\.$/) },
    });
    expect(await shop.stored()).toEqual([]);
  });

  it('cannot be better isolated than the outermost one', async () => {
    const failing = () =>
      shop.categories.unitOfWork(
        () => shop.categories.unitOfWork(() => shop.categories.count(), { isolation: 'serializable' }),
        {
          isolation: 'read-committed',
        },
      );
    expect((await raised(failing)).message).toContain('asks for isolation serializable');
    expect(await shop.categories.unitOfWork(failing, { isolation: 'serializable' })).toBe(0);
  });
});
