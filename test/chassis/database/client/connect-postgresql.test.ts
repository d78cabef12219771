import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runWithRequestContext, uninterrupted } from '../../../../src/chassis/context/request-context.ts';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { Coalescer } from '../../../../src/chassis/database/reads/coalesce.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { onServer, openEmptyDatabase } from '../../../support/empty-database.ts';

class SlowRepository extends Repository<'category'> {
  protected readonly model = 'category';

  /** A query that takes long. */
  async slow(mark: string, seconds = 5): Promise<unknown> {
    return await this.orm.$queryRawUnsafe(`SELECT pg_sleep(${seconds})::text AS "${mark}"`);
  }
}

function request(): OpenRequest {
  const nothing = { userAgent: undefined, ipAddress: undefined, deadline: undefined };
  return new OpenRequest({ requestId: 'a', method: 'GET', url: '/', ...nothing });
}

const running = (mark: string) =>
  onServer(
    `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%AS "${mark}"%' AND pid <> pg_backend_pid()`,
  );

const gone = { name: 'RequestAbandonedException', message: 'gone' };

describe('a read of a request whose client has gone', () => {
  let open: OpenOrm;
  let repository: SlowRepository;

  beforeAll(async () => {
    open = await openEmptyDatabase('postgresql', { DATABASE_POOL_SIZE: 2 });
    repository = new SlowRepository({ orm: open.client });
  });

  afterAll(() => open.close());

  /** Begins a slow read for each request, and waits until the server runs it. */
  const begin = async (mark: string, work: () => Promise<unknown>, ...requests: OpenRequest[]) => {
    const results = Promise.allSettled(requests.map((each) => runWithRequestContext(each, work)));
    await expect.poll(async () => (await running(mark)).length).toBe(1);
    return { results };
  };

  it('is cancelled within a second, and its connection serves the next', async () => {
    const abandoned = request();
    const { results } = await begin('one', () => repository.slow('one'), abandoned);
    abandoned.abort('gone');
    const since = performance.now();
    await expect.poll(async () => (await running('one')).length, { timeout: 1000, interval: 20 }).toBe(0);
    expect(await results).toMatchObject([{ reason: gone }]);
    expect(performance.now() - since).toBeLessThan(1000);
    const before = open.pool?.totalCount;
    for (let round = 0; round < 5; round += 1) expect(await repository.count()).toBe(0);
    expect(open.pool?.totalCount).toBe(before);
  });

  it('goes on while another request shares it, and is cancelled when all have gone', async () => {
    const coalescer = new Coalescer();
    const shared = () => coalescer.run('key', () => repository.slow('shared'));
    const [first, second] = [request(), request()];
    const { results } = await begin('shared', shared, first, second);
    first.abort('gone');
    // Longer than the pool takes to look at its reads.
    await onServer('SELECT pg_sleep(0.6)::text');
    expect(await running('shared')).toHaveLength(1);
    second.abort('gone');
    await expect.poll(async () => (await running('shared')).length, { timeout: 1000, interval: 20 }).toBe(0);
    expect(await results).toMatchObject([{ reason: gone }, { reason: gone }]);
  });

  it('is never cancelled within uninterrupted, nor is a write', async () => {
    const abandoned = request();
    const work = () =>
      Promise.all([
        uninterrupted(() => repository.slow('kept', 1)),
        open.client.$executeRawUnsafe(
          `INSERT INTO categories ("id", "name", "updatedAt") SELECT gen_random_uuid(), 'written' AS "written", now() FROM pg_sleep(1)`,
        ),
      ]);
    const { results } = await begin('kept', work, abandoned);
    await expect.poll(async () => (await running('written')).length).toBe(1);
    abandoned.abort('gone');
    expect(await results).toMatchObject([{ status: 'fulfilled' }]);
    expect(await repository.count()).toBe(1);
  });
});

describe('a statement that the database refuses', () => {
  it('costs no connection, also a write of a name that is taken', async () => {
    const open = await openEmptyDatabase('postgresql', { DATABASE_POOL_SIZE: 1 });
    const backend = () => open.client.$queryRawUnsafe('SELECT pg_backend_pid() AS pid');
    const before = await backend();
    await open.client.category.create({ data: { name: 'a' } });
    for (const data of [{ name: 'a' }, { name: 'b\0' }]) {
      await expect(open.client.category.create({ data })).rejects.toThrow();
    }
    expect(await backend()).toEqual(before);
    await open.close();
  });
});
