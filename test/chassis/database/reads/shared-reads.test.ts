import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { RequestQueue } from '../../../../src/chassis/database/client/request-queue.ts';
import { Coalescer } from '../../../../src/chassis/database/reads/coalesce.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';

const list = { orderBy: [{ id: 'asc' }], take: 10, select: { id: true, name: true } } as const;

class Categories extends Repository<'category'> {
  protected readonly model = 'category';

  list(): Promise<{ name: string }[]> {
    return this.findMany(list as never) as never;
  }

  /** Adds one to the name, which is a number. */
  async increment(): Promise<number> {
    const more = 'UPDATE categories SET "name" = CAST(CAST("name" AS INTEGER) + 1 AS TEXT) RETURNING "name"';
    const [row] = await this.orm.$queryRawUnsafe<{ name: string }[]>(more);
    return Number(row?.name);
  }

  /** A query of about half a second. */
  slow(): Promise<unknown> {
    const counting =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000000) SELECT count(*) FROM c';
    return Promise.resolve(
      this.orm.$queryRawUnsafe(this.provider === 'sqlite' ? counting : 'SELECT pg_sleep(0.5)::text'),
    );
  }
}

/** A request of a user, and what it costs. */
function requestOf(userId: string, cost: number): RequestContext {
  const nothing = { userAgent: undefined, ipAddress: undefined, deadline: undefined };
  const request: RequestContext = new OpenRequest({ requestId: userId, method: 'GET', url: '/', ...nothing });
  request.userId = userId;
  request.charge?.(cost);
  return request;
}

const as = <T>(userId: string, work: () => T, cost = 0): T => runWithRequestContext(requestOf(userId, cost), work);

const kinds = databaseProviders.flatMap((provider) => [true, false].map((asJson) => ({ provider, asJson })));

describe.each(kinds)('a shared read on $provider, as JSON: $asJson', ({ provider, asJson }) => {
  let open: OpenOrm;
  let repository: Categories;
  let joined = 0;

  beforeAll(async () => {
    const counts = {
      seconds: { observe: () => undefined },
      coalesced: () => (joined += 1),
      leftToOrm: () => undefined,
    };
    open = await openEmptyDatabase(
      provider,
      { DATABASE_POOL_SIZE: 2, DATABASE_ACQUIRE_TIMEOUT_MS: 5000, DATABASE_JSON_READS: asJson },
      { counts },
    );
    repository = new Categories({ orm: open.client });
    await repository.create({ name: '0' });
  });

  afterAll(() => open.close());

  it('keeps nobody waiting for the slow queries of who asked first', async () => {
    await as('heavy', () => repository.slow());
    await as('other', () => repository.list());
    const ended: string[] = [];
    const note = (name: string) => (result: unknown) => {
      ended.push(name);
      return result;
    };
    const slow = [1, 2, 3].map((number) => as('heavy', () => repository.slow()).then(note(`slow ${number}`)));
    const first = as('heavy', () => repository.list()).then(note('list'));
    await wait(50);
    const second = as('other', () => repository.list()).then(note('list'));
    expect(await second).toEqual(await first);
    await Promise.all(slow);
    expect(ended.indexOf('slow 2')).toBeGreaterThan(1);
    expect(ended.slice(0, ended.indexOf('slow 2')).filter((name) => name === 'list')).toEqual(['list', 'list']);
  });

  it('shows everybody what was written before, however many wait and join', async () => {
    const before = joined;
    const client = async (number: number) => {
      for (let round = 0; round < 10; round += 1) {
        await wait((number * 7 + round * 3) % 10);
        const written = number % 3 === 0 ? await repository.increment() : 0;
        const [record] = await repository.list();
        expect(Number(record?.name)).toBeGreaterThanOrEqual(written);
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, number) => as(`user ${number}`, () => client(number))));
    expect(joined - before).toBeGreaterThan(20);
  });
});

describe('a shared read of a queue', () => {
  /** Reads whose queries have places of a queue; each ends by its number. */
  function readsOf(places: number, timeoutMs?: number) {
    const queue = new RequestQueue({ places, placesOfSlow: 1, timeoutMs });
    const coalescer = new Coalescer({ untilTurn: true });
    const query = async (ms: number) => {
      const { leave } = await queue.enter(async () => undefined);
      await wait(ms);
      leave();
    };
    const read = (work: () => Promise<unknown> = () => query(1)) => coalescer.run('list', work);
    return { queue, query, read, coalescer };
  }

  it('takes its later queries in turn with those who wait for its end', async () => {
    const { query, read } = readsOf(2);
    await as('heavy', () => query(200));
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const twice = async () => {
      await query(1);
      begun.resolve();
      await goOn.promise;
      await query(1);
    };
    const first = as('heavy', () => read(twice));
    await begun.promise;
    await as('other', () => query(1));
    let isSlowOver = false;
    const slow = as('heavy', () => query(1500)).then(() => (isSlowOver = true));
    goOn.resolve();
    await wait(20);
    await as('other', () => read());
    await first;
    expect(isSlowOver).toBe(false);
    await slow;
  });

  it('is ordinary where it is for one of those who share it, however costly the request that asked first', async () => {
    const { queue, query, read } = readsOf(4);
    await as('other', () => query(1));
    let isCostlyOver = false;
    const costly = as('costly 1', () => query(300), 500).then(() => (isCostlyOver = true));
    const first = as('costly 2', () => read(), 500);
    await wait(20);
    expect(queue.heldBackQueries).toBe(1);
    await as('other', () => read());
    expect(queue.waitingQueries).toBe(0);
    expect(isCostlyOver).toBe(false);
    await Promise.all([first, costly]);
    // All places are free again, those of the costly too.
    await as('other', () => Promise.all([1, 2, 3, 4].map(() => query(5))));
    await as('costly 3', () => Promise.all([1, 2, 3].map(() => query(5))), 500);
    expect([queue.waitingQueries, queue.heldBackQueries, queue.clientMs('10.0.0.1')]).toEqual([0, 0, 0]);
  });

  it('gives each its own time to wait, and goes on for the others', async () => {
    const { query, read, queue } = readsOf(1, 300);
    const held = Promise.withResolvers<void>();
    const holder = as('holder', async () => {
      const { leave } = await queue.enter(async () => undefined);
      await held.promise;
      leave();
    });
    const results: string[] = [];
    const ask = (userId: string) =>
      as(userId, () => read(async () => query(1).then(() => 'read'))).then(
        (value) => results.push(`${userId}: ${value}`),
        ({ message }: Error) => results.push(`${userId}: ${message}`),
      );
    const first = ask('first');
    await wait(150);
    const second = ask('second');
    await first;
    expect(results).toEqual(['first: timeout exceeded when trying to connect']);
    held.resolve();
    await Promise.all([second, holder]);
    expect(results[1]).toBe('second: read');
    expect([queue.waiting, queue.waitingQueries, queue.clientMs('10.0.0.1')]).toEqual([0, 0, 0]);
  });

  it('raises for the last one what the queue says, and lets the next one ask anew', async () => {
    const { read, query, queue, coalescer } = readsOf(1, 50);
    const { leave } = await queue.enter(async () => undefined);
    const asked = ['a', 'b', 'c'].map((userId) => as(userId, () => read()));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    leave();
    await as('d', () => read(() => query(1)));
    await new Promise(setImmediate);
    expect(coalescer.size).toBe(0);
  });

  it('charges who gave the turn, and nobody else', async () => {
    const { query, read } = readsOf(1);
    const order: string[] = [];
    const work = (userId: string, ms: number) => as(userId, () => query(ms)).then(() => order.push(userId));
    const held = work('holder', 30);
    const shared = ['a', 'b'].map((userId) => as(userId, () => read(() => query(200))));
    await Promise.all([held, ...shared]);
    order.length = 0;
    const next = work('holder', 30);
    await Promise.all([next, work('a', 1), work('b', 1)]);
    expect(order).toEqual(['holder', 'b', 'a']);
  });
});
