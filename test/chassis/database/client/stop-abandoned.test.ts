import { describe, expect, it } from 'vitest';
import { runWithRequestContext, uninterrupted } from '../../../../src/chassis/context/request-context.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { anyProvider, openEmptyDatabase } from '../../../support/empty-database.ts';

class Categories extends Repository<'category'> {
  protected readonly model = 'category';
}

async function categories() {
  const { client, close } = await openEmptyDatabase(anyProvider);
  return { repository: new Categories({ orm: client }), client, [Symbol.asyncDispose]: close };
}

function request(deadline?: number): OpenRequest {
  return new OpenRequest({
    requestId: 'a',
    method: 'GET',
    url: '/',
    userAgent: undefined,
    ipAddress: undefined,
    deadline,
  });
}

const list = { model: 'Category', select: { id: true }, orderBy: [{ id: 'asc' }], take: 10 };
const gone = { name: 'RequestAbandonedException', message: 'gone' };
const late = { name: 'ServiceUnavailableException', message: 'The deadline of the request has passed' };

describe('a request that nobody waits for', () => {
  it('stops before its next query, of whatever kind', async () => {
    await using database = await categories();
    const { repository, client } = database;
    const abandoned = request();
    const first = await runWithRequestContext(abandoned, () => repository.create({ name: 'before' } as never));
    abandoned.abort('gone');
    const attempts = [
      () => repository.findMany(list),
      () => repository.count(),
      () => repository.findById(first.id),
      () => repository.create({ name: 'after' } as never),
      () => repository.unitOfWork(() => repository.delete(first.id)),
      () => (client as unknown as { $queryRawUnsafe(sql: string): Promise<unknown> }).$queryRawUnsafe('SELECT 1'),
    ];
    for (const attempt of attempts) {
      await expect(runWithRequestContext(abandoned, async () => attempt())).rejects.toMatchObject(gone);
    }
    expect(await repository.count()).toBe(1);
  });

  it('undoes the unit of work that it is in', async () => {
    await using database = await categories();
    const abandoned = request();
    const work = runWithRequestContext(abandoned, () =>
      database.repository.unitOfWork(async () => {
        await database.repository.create({ name: 'one' } as never);
        abandoned.abort('gone');
        await database.repository.create({ name: 'two' } as never);
      }),
    );
    await expect(work).rejects.toMatchObject(gone);
    expect(await database.repository.count()).toBe(0);
  });

  it('stops when its deadline has passed, and not before', async () => {
    await using database = await categories();
    const read = (deadline: number) =>
      runWithRequestContext(request(deadline), () => database.repository.findMany(list));
    await expect(read(Date.now() - 1)).rejects.toMatchObject(late);
    expect(await read(Date.now() + 60_000)).toEqual([]);
  });

  it('does not cut a read that others share', async () => {
    await using database = await categories();
    const abandoned = request();
    const first = runWithRequestContext(abandoned, () => database.repository.findMany(list));
    const second = runWithRequestContext(request(), () => database.repository.findMany(list));
    abandoned.abort('gone');
    expect(await Promise.all([first, second])).toEqual([[], []]);
  });

  it('goes on with what has to be done to its end', async () => {
    await using database = await categories();
    const abandoned = request(1);
    abandoned.abort('gone');
    const create = () => uninterrupted(() => database.repository.create({ name: 'kept' } as never));
    await runWithRequestContext(abandoned, create);
    expect(await database.repository.count()).toBe(1);
  });
});
