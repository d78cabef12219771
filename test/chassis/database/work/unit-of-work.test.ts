import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { innermostUnit } from '../../../../src/chassis/database/client/current-work.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { databaseProviders, onServer, openEmptyDatabase } from '../../../support/empty-database.ts';
import { CategoryRepository, categoryNames, openShop } from '../../../support/open-shop.ts';
import { raised } from '../../../support/raised.ts';

describe.each(databaseProviders)('a unit of work on %s', (provider) => {
  const shop = openShop(provider);

  it('stores what all repositories below it wrote, and gives what its work gives', async () => {
    const id = await shop.categories.unitOfWork(async () => (await shop.aProduct(1)).id);
    expect(await shop.products.getById(id)).toMatchObject({ sku: 'x' });
    expect(await shop.stored()).toEqual(['shelf']);
  });

  it('stores nothing when its work raises, and raises the same', async () => {
    const failure = new RangeError('mine');
    const failing = shop.categories.unitOfWork(async () => {
      await shop.aProduct(1);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect([await shop.categories.count(), await shop.products.count()]).toEqual([0, 0]);
  });

  it('charges its request once, whatever units are inside of it', async () => {
    const of = { method: 'POST', userAgent: undefined, ipAddress: undefined, deadline: undefined };
    const request = new OpenRequest({ requestId: 'r', url: '/', ...of });
    await runWithRequestContext(request, () =>
      shop.categories.unitOfWork(() => shop.categories.unitOfWork(() => shop.aProduct(1))),
    );
    expect(request.cost).toBe(50);
  });

  it('is dearer than a change outside of one, which its request pays for as well', async () => {
    const of = { method: 'PUT', userAgent: undefined, ipAddress: undefined, deadline: undefined };
    const costOf = async (change: () => Promise<unknown>) => {
      const request = new OpenRequest({ requestId: 'r', url: '/', ...of });
      await runWithRequestContext(request, change);
      return request.cost;
    };
    const { categories } = shop;
    const { id } = await categories.create({ name: 'a' });
    const changes = [
      () => categories.create({ name: 'b' }),
      () => categories.update(id, { name: 'c' }),
      () => categories.updateIf(id, { name: 'c' }, { name: 'd' }),
      () => categories.delete(id),
    ];
    const costs: number[] = [];
    for (const change of changes) costs.push(await costOf(change));
    expect(costs).toEqual([15, 15, 15, 15]);
  });

  it('serves repositories with private members', async () => {
    expect(await shop.categories.unitOfWork(() => shop.categories.createNoted('a'))).toEqual(['a']);
    expect(await shop.stored()).toEqual(['a']);
  });

  it('sees its own writes, which no read outside sees, shares or is given before they are stored', async () => {
    const written = Promise.withResolvers<void>();
    const seen = Promise.withResolvers<void>();
    const unit = shop.categories.unitOfWork(async () => {
      await shop.categories.create({ name: 'inside' });
      const [first, second] = await Promise.all([
        shop.categories.findMany(categoryNames),
        shop.categories.findMany(categoryNames),
      ]);
      expect(first).toEqual([{ name: 'inside' }]);
      expect(first).not.toBe(second);
      expect(await shop.categories.count()).toBe(1);
      written.resolve();
      // SQLite has one connection: what is asked outside waits there for the unit.
      if (provider === 'postgresql') await seen.promise;
    });
    await written.promise;
    const outside = shop.categories.findMany(categoryNames);
    if (provider === 'postgresql') {
      expect(await outside).toEqual([]);
      seen.resolve();
    }
    await unit;
    expect(await shop.categories.findMany(categoryNames)).toEqual([{ name: 'inside' }]);
  });

  it('ends after its time-out with 503, whatever its work does, and stores nothing', async () => {
    const never = new Promise<void>(() => undefined);
    const unavailable = { name: 'DatabaseUnavailableException', statusCode: 503 };
    const hanging = () =>
      shop.categories.unitOfWork(
        async () => {
          await shop.categories.create({ name: 'a' });
          await shop.categories.unitOfWork(() => never);
        },
        { timeoutMs: 50 },
      );
    expect(await raised(hanging)).toMatchObject(unavailable);
    const busy = () =>
      shop.categories.unitOfWork(
        async () => {
          await shop.categories.create({ name: 'a' });
          while (true) await shop.categories.count();
        },
        { timeoutMs: 50 },
      );
    expect(await raised(busy)).toMatchObject(unavailable);
    expect(await shop.stored()).toEqual([]);
    await shop.categories.unitOfWork(() => shop.categories.create({ name: 'afterwards' }));
    expect(await shop.stored()).toEqual(['afterwards']);
  });

  it('leaves nothing of a request whose client went away half-way, and does not try again', async () => {
    const request = new OpenRequest({
      requestId: 'a',
      method: 'POST',
      url: '/',
      userAgent: undefined,
      ipAddress: undefined,
      deadline: undefined,
    });
    let attempts = 0;
    const abandoned = runWithRequestContext(request, () =>
      shop.categories.unitOfWork(
        async () => {
          attempts += 1;
          await shop.categories.create({ name: 'first half' });
          request.abort('gone');
          await shop.categories.create({ name: 'second half' });
        },
        { retries: 5 },
      ),
    );
    await expect(abandoned).rejects.toMatchObject({ name: 'RequestAbandonedException' });
    expect(attempts).toBe(1);
    expect(await shop.stored()).toEqual([]);
  });

  it('keeps apart from one on another database', async () => {
    const other = await openEmptyDatabase(provider);
    const others = new CategoryRepository({ orm: other.client });
    const failing = shop.categories.unitOfWork(async () => {
      await shop.categories.create({ name: 'here' });
      await others.create({ name: 'there, by itself' });
      await others.unitOfWork(async () => {
        await others.create({ name: 'there' });
        await shop.categories.create({ name: 'here too' });
      });
      throw new RangeError('mine');
    });
    await expect(failing).rejects.toThrow('mine');
    const there = await others.findMany(categoryNames);
    await other.close();
    expect(there).toEqual([{ name: 'there' }, { name: 'there, by itself' }]);
    expect(await shop.stored()).toEqual([]);
  });

  it.each([{ timeoutMs: 0 }, { timeoutMs: 2 ** 31 }, { timeoutMs: Number.NaN }, { retries: -1 }, { retries: 0.5 }])(
    'begins nothing with options that it cannot keep: %o',
    async (options) => {
      const failing = shop.categories.unitOfWork(() => shop.categories.create({ name: 'a' }), options);
      await expect(failing).rejects.toMatchObject({ statusCode: 500, message: expect.stringContaining('Expected') });
      expect(await shop.stored()).toEqual([]);
    },
  );
});

describe('a unit of work on PostgreSQL whose time-out comes while a statement runs', () => {
  const shop = openShop('postgresql');
  const sleep = (seconds: number) =>
    innermostUnit()?.transaction.$queryRawUnsafe(`SELECT pg_sleep(${seconds})::text AS "unit_sleeps"`);
  const sleeping = () =>
    onServer(
      `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%AS "unit_sleeps"%' AND pid <> pg_backend_pid()`,
    );

  it.each([
    ['in the unit', (work: () => Promise<unknown>) => work()],
    ['in a nested unit', (work: () => Promise<unknown>) => shop.categories.unitOfWork(work)],
    ['behind others', (work: () => Promise<unknown>) => Promise.all([work(), work(), shop.categories.count()])],
    ['and its failure is caught', (work: () => Promise<unknown>) => work().catch(() => shop.categories.count())],
  ])('cancels it, undoes the unit, and keeps the connection: %s', async (_where, begin) => {
    const before = shop.open.pool?.totalCount;
    const since = performance.now();
    const slow = () =>
      shop.categories.unitOfWork(
        async () => {
          await shop.categories.create({ name: 'a' });
          await begin(async () => sleep(5));
        },
        { timeoutMs: 200 },
      );
    const unavailable = { name: 'DatabaseUnavailableException', message: expect.stringContaining('took too long') };
    expect(await raised(slow)).toMatchObject(unavailable);
    expect(performance.now() - since).toBeLessThan(2000);
    expect(await sleeping()).toEqual([]);
    expect(shop.open.pool).toMatchObject({ totalCount: before, idleCount: before });
    expect(await shop.stored()).toEqual([]);
  });

  it('never hits what comes after it, however close its end is', async () => {
    for (let round = 0; round < 40; round += 1) {
      const work = () => shop.categories.unitOfWork(async () => sleep(0.02), { timeoutMs: 15 + (round % 10) });
      await work().catch((error: unknown) => expect(error).toMatchObject({ statusCode: 503 }));
      expect(await shop.categories.count()).toBe(0);
    }
  });
});

describe('a unit of work on PostgreSQL whose connection ends between two statements', () => {
  const shop = openShop('postgresql');
  const cut = async () => {
    const pids = await innermostUnit()?.transaction.$queryRawUnsafe<{ pid: number }[]>(
      'SELECT pg_backend_pid() AS pid',
    );
    const pid = pids?.[0]?.pid;
    await onServer(`SELECT pg_terminate_backend(${pid})`);
    await expect.poll(() => onServer(`SELECT 1 FROM pg_stat_activity WHERE pid = ${pid}`)).toEqual([]);
    await setImmediate();
  };
  const unavailable = { name: 'DatabaseUnavailableException', statusCode: 503 };

  it.each([
    ['a query', () => shop.categories.count()],
    ['a nested unit', () => shop.categories.unitOfWork(() => shop.categories.count())],
    ['the commit', async () => undefined],
  ])('is a DatabaseUnavailableException and stores nothing: before %s', async (_what, next) => {
    const work = async () => {
      await shop.categories.create({ name: 'a' });
      await cut();
      await next();
    };
    expect(await raised(() => shop.categories.unitOfWork(work))).toMatchObject(unavailable);
    expect(await shop.stored()).toEqual([]);
  });
});

describe.each(databaseProviders)("the client's own transaction on %s", (provider) => {
  const shop = openShop(provider);

  it('refuses what would be stored beside it, such as a write of a repository', async () => {
    const failing = shop.open.client.$transaction(async (transaction) => {
      await transaction.category.create({ data: { name: 'inside' } });
      await shop.categories.create({ name: 'beside' });
    });
    await expect(failing).rejects.toMatchObject({ statusCode: 500, message: expect.stringContaining('unitOfWork') });
    expect(await shop.stored()).toEqual([]);
    await shop.open.client.$transaction(async (transaction) => transaction.category.create({ data: { name: 'a' } }));
    expect(await shop.stored()).toEqual(['a']);
  });
});
