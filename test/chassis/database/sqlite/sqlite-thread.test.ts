import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { DatabaseUnavailableException } from '../../../../src/chassis/errors/exceptions.ts';
import { databaseSettings, emptyDatabase } from '../../../support/empty-database.ts';

/** Counts for some seconds, which nothing can stop. */
const endless = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000000) SELECT count(*) FROM c`;
/** Counts for a good part of a second. */
const slow = endless.replace('5000000', '2000000');

interface Raw {
  $queryRawUnsafe(sql: string): Promise<unknown>;
  $executeRawUnsafe(sql: string): Promise<number>;
  $transaction<T>(work: (transaction: Raw) => Promise<T>): Promise<T>;
}

async function openedDatabase(statementTimeoutMs: number) {
  const { settings, remove } = await emptyDatabase('sqlite');
  onTestFinished(remove);
  const limits = { DATABASE_STATEMENT_TIMEOUT_MS: statementTimeoutMs };
  const database = await openDatabase({ ...databaseSettings(settings.DATABASE_URL), ...limits });
  onTestFinished(database.close);
  return database;
}

async function opened(statementTimeoutMs = 60_000) {
  const { client } = await openedDatabase(statementTimeoutMs);
  return client as unknown as Raw;
}

describe('a statement on SQLite', () => {
  it('leaves the event loop to others, however long it takes', async () => {
    const client = await opened();
    let done = false;
    const started = performance.now();
    const counted = client.$queryRawUnsafe(slow).finally(() => {
      done = true;
    });
    let longest = 0;
    for (let last = performance.now(); !done; last = performance.now()) {
      await new Promise(setImmediate);
      longest = Math.max(longest, performance.now() - last);
    }
    await counted;
    expect(longest).toBeLessThan((performance.now() - started) / 2);
  });

  it('is given up with 503 after DATABASE_STATEMENT_TIMEOUT_MS, and those behind it are answered', async () => {
    const client = await opened(200);
    const started = performance.now();
    const late = client.$queryRawUnsafe(endless);
    const behind = client.$queryRawUnsafe('SELECT 1 AS one');
    await expect(late).rejects.toThrow(DatabaseUnavailableException);
    expect(await behind).toMatchObject([{ one: 1 }]);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('takes its transaction with it when it is given up, of which nothing is stored', async () => {
    const client = await opened(200);
    await client.$executeRawUnsafe('CREATE TABLE notes (text TEXT)');
    const work = client.$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe(`INSERT INTO notes VALUES ('half')`);
      await transaction.$queryRawUnsafe(endless);
    });
    const behind = client.$queryRawUnsafe('SELECT count(*) AS count FROM notes');
    await expect(work).rejects.toThrow(DatabaseUnavailableException);
    expect(await behind).toMatchObject([{ count: 0 }]);
  });

  it('waits for its turn where one was given up and still runs', async () => {
    const client = await opened(200);
    const late = [client.$queryRawUnsafe(endless), client.$queryRawUnsafe(endless)];
    for (const one of late) await expect(one).rejects.toThrow(DatabaseUnavailableException);
    expect(await client.$queryRawUnsafe('SELECT 1 AS one')).toMatchObject([{ one: 1 }]);
  });

  it('keeps the database busy within its time limit, and beyond it is no excuse', async () => {
    const { client, isBusy } = await openedDatabase(200);
    const raw = client as unknown as Raw;
    expect(isBusy()).toBe(false);
    const late = Promise.allSettled([raw.$queryRawUnsafe(endless), raw.$queryRawUnsafe(endless)]);
    await expect.poll(isBusy, { interval: 5 }).toBe(true);
    // One thread is left behind with the first, so that the second keeps the other beyond its time.
    expect((await late).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(isBusy()).toBe(false);
  });

  it('one after the other, as an export asks for them, lets timers and signals in', async () => {
    const client = await opened();
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 1);
    let count = 0;
    for (; count < 2000 && !fired; count += 1) await client.$queryRawUnsafe('SELECT 1');
    expect(count).toBeLessThan(2000);
  });

  it('of a closed transaction is refused instead of run outside of it', async () => {
    const client = await opened();
    let kept: Raw | undefined;
    await client.$transaction(async (transaction) => {
      kept = transaction;
    });
    await expect(kept?.$queryRawUnsafe('SELECT 1')).rejects.toThrow();
  });
});
