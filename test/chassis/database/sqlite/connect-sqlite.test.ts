import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../../../src/chassis/database/migrations/apply-migrations.ts';
import { databaseSettings, emptyDatabase } from '../../../support/empty-database.ts';

async function migrated() {
  const { settings, remove } = await emptyDatabase('sqlite');
  onTestFinished(remove);
  await applyMigrations(settings);
  return settings;
}

describe('an SQLite connection', () => {
  it('makes the directory of its file', async () => {
    const { settings, remove } = await emptyDatabase('sqlite');
    onTestFinished(remove);
    const file = join(dirname(settings.DATABASE_URL.slice('file:'.length)), 'deeper/än other #1.db');
    const { close } = await openDatabase(databaseSettings(`file:${file.replaceAll('#', '%23')}`));
    await close();
    expect(existsSync(file)).toBe(true);
  });

  it('keeps its settings after a transaction', async () => {
    const { client, close } = await openDatabase(await migrated());
    await client.$transaction((transaction) => transaction.category.count());
    expect(await client.$queryRawUnsafe('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await client.$queryRawUnsafe('PRAGMA synchronous')).toMatchObject([{ synchronous: 1 }]);
    expect(await client.$queryRawUnsafe('PRAGMA foreign_keys')).toMatchObject([{ foreign_keys: 1 }]);
    await close();
  });

  it('lets writers wait for one another without stopping the event loop', async () => {
    const settings = await migrated();
    const [a, b] = await Promise.all([openDatabase(settings), openDatabase(settings)]);
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = a.client.$transaction(async (transaction) => {
      await transaction.category.create({ data: { name: 'first' } });
      started.resolve();
      await release.promise;
    });
    await started.promise;
    const waiting = b.client.category.create({ data: { name: 'second' } });
    const alsoWaiting = b.client.$transaction((transaction) =>
      transaction.category.create({ data: { name: 'third' } }),
    );
    let turns = 0;
    while (turns < 100) {
      await new Promise(setImmediate);
      turns += 1;
    }
    release.resolve();
    await Promise.all([holding, waiting, alsoWaiting]);
    expect(await a.client.category.count()).toBe(3);
    await Promise.all([a.close(), b.close()]);
  });

  it('leaves one complete file behind when it closes', async () => {
    const settings = await migrated();
    const { client, close } = await openDatabase(settings);
    await client.category.create({ data: { name: 'kept' } });
    await close();
    const file = settings.DATABASE_URL.slice('file:'.length);
    copyFileSync(file, `${file}.copy`);
    const copy = await openDatabase(databaseSettings(`file:${file}.copy`));
    expect(await copy.client.category.findMany()).toMatchObject([{ name: 'kept' }]);
    await copy.close();
  });
});
