import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { databaseProviders } from '../../../support/empty-database.ts';
import { openShop } from '../../../support/open-shop.ts';
import { raised } from '../../../support/raised.ts';

const nowhere = '00000000-0000-4000-8000-000000000000';

describe.each(databaseProviders)('a query of a unit of work on %s', (provider) => {
  const shop = openShop(provider);

  it('cannot go on after a query failed outside of a nested one, and is undone, also when the error is caught', async () => {
    const swallow = async () => {
      await shop.categories.create({ name: 'a' });
      await raised(() => shop.categories.create({ name: 'a' }));
    };
    const ended = await raised(() => shop.categories.unitOfWork(swallow));
    expect(ended).toMatchObject({ statusCode: 500, isOperational: false, cause: { statusCode: 409 } });
    const goesOn = await raised(() => shop.categories.unitOfWork(() => swallow().then(() => shop.categories.count())));
    expect(goesOn.message).toContain('Run what may fail in a nested unit of work');
    expect(await shop.stored()).toEqual([]);
  });

  it('goes on after a record was not there, unless other parts of that write were stored', async () => {
    const { id } = await shop.aProduct(1);
    await shop.categories.unitOfWork(async () => {
      expect(await raised(() => shop.categories.update(nowhere, { name: 'x' }))).toMatchObject({ statusCode: 404 });
      expect(await raised(() => shop.categories.delete(nowhere))).toMatchObject({ statusCode: 404 });
      await shop.categories.create({ name: 'after' });
    });
    expect(await shop.stored()).toEqual(['after', 'shelf']);
    const half = () => shop.categories.unitOfWork(() => raised(() => shop.products.updateWithMissingCategory(id)));
    expect(await raised(half)).toMatchObject({ statusCode: 500 });
    expect(await shop.products.getById(id)).toMatchObject({ name: 'x' });
  });

  it('undoes the unit when it was not awaited, and says so', async () => {
    let left: Promise<unknown> = Promise.resolve();
    const failing = () =>
      shop.categories.unitOfWork(async () => {
        await shop.categories.create({ name: 'a' });
        const nested = shop.categories.unitOfWork(async () => {
          await setImmediate();
          await shop.categories.create({ name: 'b' });
        });
        left = Promise.allSettled([nested]);
      });
    const error = await raised(failing);
    expect(error).toMatchObject({
      statusCode: 500,
      message: expect.stringContaining('with 1 of its queries under way'),
    });
    expect(await left).toMatchObject([{ status: 'rejected', reason: { message: expect.stringContaining('is over') } }]);
    expect(await shop.stored()).toEqual([]);
  });

  it('never is stored by itself when it was not awaited: it or the unit raises', async () => {
    let left: Promise<unknown> = Promise.resolve();
    const work = shop.categories.unitOfWork(async () => {
      left = Promise.allSettled([shop.categories.create({ name: 'a' })]);
    });
    const [unit] = await Promise.allSettled([work]);
    const [query] = (await left) as PromiseSettledResult<unknown>[];
    expect([unit?.status, query?.status]).toContain('rejected');
    expect(await shop.stored()).toEqual([]);
  });

  it('refuses a query that is asked for when it is over, so that it is not stored by itself', async () => {
    const over = Promise.withResolvers<void>();
    let late: Promise<unknown> = Promise.resolve();
    let kept: { count(): Promise<number> } | undefined;
    await shop.categories.unitOfWork(async () => {
      await shop.categories.create({ name: 'in time' });
      kept = shop.categories.keep();
      late = over.promise.then(() => shop.categories.create({ name: 'late' }));
    });
    over.resolve();
    const error = await raised(() => late);
    expect(error).toMatchObject({ statusCode: 500, message: expect.stringContaining('is over') });
    expect(await shop.stored()).toEqual(['in time']);
    expect(await raised(async () => kept?.count())).toMatchObject({ name: 'DatabaseUnavailableException' });
  });

  it('refuses a transaction that goes around it, and joins those of this.orm', async () => {
    const client = shop.open.client;
    const create = (orm: typeof client, name: string) => orm.category.create({ data: { name } });
    const around: (() => Promise<unknown>)[] = [
      () => client.$transaction([create(client, 'array')]),
      () => client.$transaction((transaction) => create(transaction as typeof client, 'interactive')),
    ];
    for (const begin of around) {
      await expect(shop.categories.unitOfWork(begin)).rejects.toThrow('outside of the unit of work');
    }
    expect(await shop.stored()).toEqual([]);
    const joining = async () => {
      await shop.categories.createTogether('a', 'b');
      throw new RangeError('mine');
    };
    await expect(shop.categories.unitOfWork(joining)).rejects.toThrow('mine');
    expect(await shop.stored()).toEqual([]);
    await shop.categories.unitOfWork(() => shop.categories.createTogether('a', 'b'));
    expect(await shop.stored()).toEqual(['a', 'b']);
  });

  it('takes in what an emitter from outside brings, with for await and in a bound callback', async () => {
    const stream = Readable.from(['a', 'b']);
    const emitter = new EventEmitter();
    const undone = async () => {
      for await (const name of stream) await shop.categories.create({ name });
      const created = Promise.withResolvers<unknown>();
      const callback = (name: string) => created.resolve(shop.categories.create({ name }));
      emitter.once('data', AsyncResource.bind(callback));
      outside.resolve();
      await created.promise;
      throw new RangeError(`undone ${await shop.categories.count()}`);
    };
    const outside = Promise.withResolvers<void>();
    const emitted = outside.promise.then(() => emitter.emit('data', 'c'));
    await expect(shop.categories.unitOfWork(undone)).rejects.toThrow('undone 3');
    await emitted;
    expect(await shop.stored()).toEqual([]);
  });

  it('refuses a query that goes around it', async () => {
    const error = await raised(() =>
      shop.categories.unitOfWork(() => shop.open.client.category.create({ data: { name: 'x' } })),
    );
    expect(error).toMatchObject({ statusCode: 500, message: expect.stringContaining('Category.create') });
    expect(await shop.stored()).toEqual([]);
  });
});
