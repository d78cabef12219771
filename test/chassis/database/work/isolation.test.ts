import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ConflictException } from '../../../../src/chassis/errors/exceptions.ts';
import { databaseProviders } from '../../../support/empty-database.ts';
import { categoryNames, openShop } from '../../../support/open-shop.ts';

describe.each(databaseProviders)('a unit of work beside others on %s', (provider) => {
  const shop = openShop(provider);

  it('loses no update of 50 writers who read, change and write one row', async () => {
    const { id } = await shop.aProduct(0);
    let attempts = 0;
    const writer = () =>
      shop.products.unitOfWork(
        async () => {
          attempts += 1;
          const { price } = await shop.products.getById(id, { price: true });
          await setImmediate();
          await shop.products.update(id, { price: price + 1, name: `price ${price + 1}` });
        },
        { retries: 200, timeoutMs: 15_000 },
      );
    const torn: unknown[] = [];
    let writing = true;
    const watcher = (async () => {
      while (writing) {
        const { name, price } = await shop.products.getById(id, { name: true, price: true });
        if (price > 0 && name !== `price ${price}`) torn.push({ name, price });
        await setImmediate();
      }
    })();
    await Promise.all(Array.from({ length: 50 }, writer));
    writing = false;
    await watcher;
    expect(await shop.products.getById(id)).toMatchObject({ price: 50, name: 'price 50' });
    expect(torn).toEqual([]);
    // Where they run at the same time some met; one that gave up would be missing from the sum.
    if (provider === 'postgresql') expect(attempts).toBeGreaterThan(50);
    else expect(attempts).toBe(50);
  });

  it.each([
    ['itself', (update: () => Promise<unknown>) => update()],
    ['a nested one', (update: () => Promise<unknown>) => shop.products.unitOfWork(update)],
    [
      'one nested in a nested one',
      (update: () => Promise<unknown>) => shop.products.unitOfWork(() => shop.products.unitOfWork(update)),
    ],
  ])('tries again when its work has turned the conflict of %s into an error of its own', async (_whose, within) => {
    const { id } = await shop.aProduct(0);
    const writer = () =>
      shop.products.unitOfWork(
        async () => {
          const { price } = await shop.products.getById(id, { price: true });
          await setImmediate();
          try {
            await within(() => shop.products.update(id, { price: price + 1 }));
          } catch (cause) {
            throw new ConflictException('somebody was faster', undefined, { cause: new Error(String(cause)) });
          }
        },
        { retries: 100, timeoutMs: 15_000 },
      );
    await Promise.all(Array.from({ length: 10 }, writer));
    expect(await shop.products.getById(id)).toMatchObject({ price: 10 });
  });

  it('raises a conflict as 503 when it may not try again, and loses no update then either', async () => {
    const { id } = await shop.aProduct(0);
    let inside = 0;
    const both = Promise.withResolvers<void>();
    const writer = () =>
      shop.products.unitOfWork(async () => {
        const { price } = await shop.products.getById(id);
        inside += 1;
        if (inside === 2 || provider === 'sqlite') both.resolve();
        await both.promise;
        await shop.products.update(id, { price: price + 1 });
      });
    const results = await Promise.allSettled([writer(), writer()]);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(await shop.products.getById(id)).toMatchObject({ price: 2 - refused.length });
    expect(refused).toHaveLength(provider === 'postgresql' ? 1 : 0);
    const unavailable = { name: 'DatabaseUnavailableException', statusCode: 503, headers: { 'Retry-After': '1' } };
    for (const refusal of refused) expect(refusal).toMatchObject({ reason: unavailable });
  });

  it('keeps a rule over two rows with isolation serializable, which a commit can refuse', async () => {
    for (const name of ['on call 1', 'on call 2']) await shop.categories.create({ name });
    let inside = 0;
    const both = Promise.withResolvers<void>();
    const leave = (name: string) =>
      shop.categories.unitOfWork(
        async () => {
          const there = await shop.categories.findMany(categoryNames);
          inside += 1;
          if (inside === 2 || provider === 'sqlite') both.resolve();
          await both.promise;
          if (there.length > 1) await removeByName(name);
        },
        { isolation: 'serializable', retries: 20 },
      );
    const removeByName = async (name: string) => {
      const [found] = await shop.categories.findMany({ ...categoryNames, select: { id: true }, where: { name } });
      await shop.categories.delete((found as unknown as { id: string }).id);
    };
    await Promise.all([leave('on call 1'), leave('on call 2')]);
    expect(await shop.stored()).toHaveLength(1);
  });
});
