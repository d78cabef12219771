import { describe, expect, it, onTestFinished } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { databaseSettings, emptyDatabase } from '../../../support/empty-database.ts';

/** Counts for a second or more, which nothing can stop. */
const slow = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 4000000) SELECT count(*) FROM c`;

interface Raw {
  $queryRawUnsafe(sql: string): Promise<unknown>;
  $executeRawUnsafe(sql: string): Promise<number>;
  $transaction<T>(work: (transaction: Raw) => Promise<T>): Promise<T>;
}

async function opened(): Promise<Raw> {
  const { settings, remove } = await emptyDatabase('sqlite');
  onTestFinished(remove);
  const database = await openDatabase(databaseSettings(settings.DATABASE_URL));
  onTestFinished(database.close);
  const client = database.client as unknown as Raw;
  await client.$executeRawUnsafe('CREATE TABLE notes (text TEXT)');
  return client;
}

let asked = 0;

/** Asks as a request that costs so much, of somebody who has asked for nothing else. */
async function ask(client: Raw, cost: number, sql: string): Promise<unknown> {
  asked += 1;
  const ipAddress = `192.0.2.${asked}`;
  const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, cost };
  return runWithRequestContext(context, async () => await client.$queryRawUnsafe(sql));
}

const count = 'SELECT count(*) AS count FROM notes';

describe('a costly read on SQLite', () => {
  it('keeps nobody waiting, nor does another statement keep it', async () => {
    const client = await opened();
    const order: string[] = [];
    const costly = ask(client, 500, slow.replace('WITH', 'SELECT * FROM (WITH').concat(')'));
    const noted = (name: string, work: Promise<unknown>) => work.then(() => order.push(name));
    await Promise.all([
      noted('costly', costly),
      noted('write', client.$executeRawUnsafe(`INSERT INTO notes VALUES ('written')`)),
      noted('ordinary', ask(client, 1, count)),
    ]);
    expect(order.at(-1)).toBe('costly');
    order.length = 0;
    await Promise.all([noted('slow', ask(client, 1, slow)), noted('costly', ask(client, 500, count))]);
    expect(order).toEqual(['costly', 'slow']);
  });

  it('sees what was written before, and nothing of a transaction under way', async () => {
    const client = await opened();
    for (let written = 1; written <= 50; written += 1) {
      await client.$executeRawUnsafe(`INSERT INTO notes VALUES ('text')`);
      expect(await ask(client, 500, count)).toMatchObject([{ count: written }]);
    }
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = client.$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe(`INSERT INTO notes VALUES ('half')`);
      begun.resolve();
      await mayEnd.promise;
    });
    await begun.promise;
    expect(await ask(client, 500, count)).toMatchObject([{ count: 50 }]);
    mayEnd.resolve();
    await work;
    expect(await ask(client, 500, count)).toMatchObject([{ count: 51 }]);
  });

  it('finds tables as they are after a change', async () => {
    const client = await opened();
    expect(await ask(client, 500, 'SELECT * FROM notes')).toEqual([]);
    await client.$executeRawUnsafe(`ALTER TABLE notes ADD COLUMN length INTEGER DEFAULT 7`);
    await client.$executeRawUnsafe(`INSERT INTO notes (text) VALUES ('text')`);
    expect(await ask(client, 500, 'SELECT * FROM notes')).toMatchObject([{ text: 'text', length: 7 }]);
  });
});
