import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BadRequestException, ServiceUnavailableException } from '../../../../src/chassis/errors/exceptions.ts';
import { openLongProducts } from '../long-products.ts';

describe.each([true, false])('a result of PostgreSQL with DATABASE_JSON_READS=%s', (DATABASE_JSON_READS) => {
  let opened: Awaited<ReturnType<typeof openLongProducts>>;
  let hasRoom = true;

  beforeAll(async () => {
    opened = await openLongProducts('postgresql', { DATABASE_JSON_READS, DATABASE_POOL_SIZE: 4 }, () => hasRoom);
  });
  afterAll(() => opened.open.close());

  const list: typeof opened.list = (...asked) => opened.list(...asked);

  it('is refused with 400 where it is longer than any may be, and others are read', async () => {
    const [long, short] = await Promise.allSettled([list(400), list(200)]);
    expect(long).toMatchObject({ reason: expect.any(BadRequestException) });
    expect((long as PromiseRejectedResult).reason.message).toMatch(/more than 2 MB; ask for fewer records/);
    expect(short).toMatchObject({ value: { length: 200 } });
    expect(await list(250)).toHaveLength(250);
  });

  it('waits for others that came before where all together are longer, and comes', async () => {
    const found = await Promise.all([1, 2, 3, 4].map((price) => list(250, price)));
    expect(found.map(({ length }) => length)).toEqual([250, 250, 250, 250]);
  });

  it('waits for memory where that is short, and is refused with 503 after two seconds', async () => {
    hasRoom = false;
    const [late, soon] = [list(250, 5), list(50, 5)];
    expect(await soon).toHaveLength(50);
    await expect(late).rejects.toBeInstanceOf(ServiceUnavailableException);
    const waiting = list(250, 6);
    await wait(300);
    hasRoom = true;
    expect(await waiting).toHaveLength(250);
  });
});
