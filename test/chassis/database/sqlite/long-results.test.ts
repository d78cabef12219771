import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { SqlResultSet } from '@prisma/driver-adapter-utils';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { charsOf } from '../../../../src/chassis/database/sqlite/sqlite-statements.ts';
import { SqliteThread } from '../../../../src/chassis/database/sqlite/sqlite-thread.ts';
import {
  BadRequestException,
  DatabaseException,
  ServiceUnavailableException,
} from '../../../../src/chassis/errors/exceptions.ts';
import { mostBytes, openLongProducts } from '../long-products.ts';

class Categories extends Repository<'category'> {
  protected readonly model = 'category';
}

const orderBy = [{ id: 'asc' as const }];

describe.each([true, false])('a result of SQLite with DATABASE_JSON_READS=%s', (DATABASE_JSON_READS) => {
  let opened: Awaited<ReturnType<typeof openLongProducts>>;
  let hasRoom = true;

  beforeAll(async () => {
    opened = await openLongProducts('sqlite', { DATABASE_JSON_READS }, () => hasRoom);
  });
  afterAll(() => opened.open.close());

  const list: typeof opened.list = (...asked) => opened.list(...asked);

  it('is refused with 400 where it is longer than any may be, and others are read and written', async () => {
    const [long, short] = await Promise.allSettled([list(400), list(200)]);
    expect(long).toMatchObject({ reason: expect.any(BadRequestException) });
    expect((long as PromiseRejectedResult).reason.message).toMatch(/more than 2 MB; ask for fewer records/);
    expect(short).toMatchObject({ value: { length: 200 } });
    await opened.open.client.$transaction((own) => own.category.create({ data: { name: 'another' } }));
    expect(await list(250)).toHaveLength(250);
  });

  it.runIf(DATABASE_JSON_READS)(
    'waits for memory where that is short, and is refused with 503 after two seconds',
    async () => {
      hasRoom = false;
      const [late, soon] = [list(250, 5), list(20, 5)];
      expect(await soon).toHaveLength(20);
      await expect(late).rejects.toBeInstanceOf(ServiceUnavailableException);
      const waiting = list(250, 6);
      await wait(300);
      hasRoom = true;
      expect(await waiting).toHaveLength(250);
    },
  );

  it.runIf(DATABASE_JSON_READS)('counts as long by its related records before it was ever read', async () => {
    hasRoom = false;
    const select = { id: true, products: { select: { id: true }, orderBy, take: 100 } };
    const categories = new Categories({ orm: opened.open.client });
    const read = categories.findMany({ model: 'Category', select, orderBy, where: {}, take: 50 });
    await expect(read).rejects.toBeInstanceOf(ServiceUnavailableException);
    hasRoom = true;
  });

  it('is refused where sorting takes more memory than there is, and others are sorted', async () => {
    const sorted = (times: number) =>
      opened.open.client.$queryRawUnsafe(
        `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ${times})
          SELECT length(t) AS l FROM (SELECT hex(randomblob(500)) AS t FROM c ORDER BY t LIMIT 10 OFFSET ${times - 10})`,
      );
    await expect(sorted(60_000)).rejects.toBeInstanceOf(DatabaseException);
    expect(await sorted(500)).toHaveLength(10);
  });
});

describe('long results of SQLite', () => {
  function openThread(): SqliteThread {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-long-'));
    const dataModel = { models: {}, enums: {}, constraints: {} };
    const limits = { statementTimeoutMs: 10_000, reads: { mostBytes } };
    const thread = new SqliteThread({ path: join(folder, 'x.db'), dataModel, ...limits });
    onTestFinished(async () => {
      await thread.close();
      rmSync(folder, { recursive: true });
    });
    return thread;
  }

  it('come one after the other where all together are longer than one may be, and all come', async () => {
    const thread = openThread();
    const statement = { sql: `SELECT hex(zeroblob(600000)) AS t UNION ALL SELECT 'x'`, args: [], argTypes: [] };
    const read = Array.from({ length: 8 }, () => thread.run<SqlResultSet>({ kind: 'query', statement }));
    // Nothing is received meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    for (const { rows } of await Promise.all(read)) expect(String(rows[0]?.[0])).toHaveLength(1_200_000);
  });

  it('leave memory for statements that come in ever other shapes, each with over a thousand parameters', async () => {
    const thread = openThread();
    const args = Array.from({ length: 1300 }, () => 0);
    const argTypes = args.map(() => ({ scalarType: 'int' as const, arity: 'scalar' as const }));
    for (let shape = 0; shape < 120; shape += 1) {
      const sql = `SELECT ${shape} AS s WHERE 0 IN (${args.map(() => '?').join()})`;
      const { rows } = await thread.run<SqlResultSet>({ kind: 'query', statement: { sql, args, argTypes } });
      expect(Number(rows[0]?.[0])).toBe(shape);
    }
  });
});

it('A row of SQLite weighs the bytes of its long texts, of which a letter may have three', () => {
  expect(charsOf(['漢'.repeat(1000), 'x'.repeat(1000), 'short', 7, new Uint8Array(10)])).toBe(4015);
});
