import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
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

  it('cannot be better isolated than the outermost one', async () => {
    const failing = () =>
      shop.categories.unitOfWork(
        () => shop.categories.unitOfWork(() => shop.categories.count(), { isolation: 'serializable' }),
        {
          isolation: 'read-committed',
        },
      );
    if (provider === 'sqlite') expect(await failing()).toBe(0);
    else expect((await raised(failing)).message).toContain('asks for isolation serializable');
  });
});
