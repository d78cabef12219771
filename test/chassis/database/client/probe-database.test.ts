import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { patientCheck, probeDatabase } from '../../../../src/chassis/database/client/probe-database.ts';
import {
  databaseProviders,
  databaseSettings,
  emptyDatabase,
  onServer,
  openEmptyDatabase,
} from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';

const unavailable = { name: 'DatabaseUnavailableException', statusCode: 503, headers: { 'Retry-After': '1' } };

/** Makes the database refuse every write, as a file system or a server does that became read-only. */
async function makeReadOnly(open: Awaited<ReturnType<typeof openEmptyDatabase>>): Promise<void> {
  if (open.provider === 'sqlite') return void (await open.client.$queryRawUnsafe('PRAGMA query_only = ON'));
  const database = new URL(open.settings.DATABASE_URL).pathname.slice(1);
  await onServer(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
  await expect.poll(() => open.pool?.totalCount).toBe(0);
}

describe.each(databaseProviders)('the probe of %s', (provider) => {
  it('finds a database that can be written, and changes nothing', async () => {
    const open = await openEmptyDatabase(provider);
    const version = () => open.client.$queryRawUnsafe('PRAGMA user_version');
    if (provider === 'sqlite') await open.client.$queryRawUnsafe('PRAGMA user_version = 7');
    await probeDatabase(open);
    if (provider === 'sqlite') expect(await version()).toEqual([{ user_version: 7 }]);
    await open.close();
  });

  it('refuses a database that is read-only, as every write does with 503', async () => {
    const open = await openEmptyDatabase(provider);
    await makeReadOnly(open);
    const errors = [
      await raised(() => probeDatabase(open)),
      await raised(() => open.client.category.create({ data: { name: 'a' } })),
    ];
    const reads = await open.client.category.count();
    await open.close();
    for (const error of errors) {
      expect(error).toMatchObject({ ...unavailable, message: 'Database Unavailable: it is read-only' });
    }
    expect(reads).toBe(0);
  });
});

describe('a PostgreSQL that is told to be read-only while it runs', () => {
  // Of the whole server, which other tests use too, test/soak/database-outage.test.ts has the same.
  const whole = {
    'a database': 'DATABASE {database}',
    'a role': 'ROLE {role}',
    'a role in a database': 'ROLE {role} IN DATABASE {database}',
  };
  it.each(Object.entries(whole))(
    'is found so by the probe where %s is told, and well again, with sessions of before and of meanwhile',
    async (_whom, target) => {
      const { settings, remove } = await emptyDatabase('postgresql');
      const url = new URL(settings.DATABASE_URL);
      const [database, role] = [url.pathname.slice(1), `told_${url.pathname.slice(1)}`];
      await onServer(`CREATE ROLE ${role} LOGIN PASSWORD 'told'`);
      Object.assign(url, { username: role, password: 'told' });
      const open = await openDatabase(databaseSettings(url.href));
      const outcome = () =>
        probeDatabase(open).then(
          () => 'well',
          (error: Error) => error.message,
        );
      const tell = (rest: string) =>
        onServer(`ALTER ${target.replace('{role}', role).replace('{database}', database)} ${rest}`);
      const sessions = () =>
        Promise.all(Array.from({ length: 5 }, () => open.client.$queryRawUnsafe('SELECT pg_sleep(0.1)::text')));
      await sessions();
      expect(await outcome()).toBe('well');
      await tell('SET default_transaction_read_only = on');
      for (let round = 0; round < 7; round += 1) expect(await outcome()).toBe('Database Unavailable: it is read-only');
      await sessions();
      await tell('RESET default_transaction_read_only');
      await expect.poll(outcome).toBe('well');
      await open.close();
      await remove();
      await onServer(`DROP ROLE ${role}`);
    },
  );
});

describe.each(databaseProviders)('a health check of %s', (provider) => {
  it('holds while a unit of work runs, however long it takes, and tells the truth once it is over', async () => {
    const open = await openEmptyDatabase(provider);
    const check = patientCheck(() => probeDatabase(open), open.isBusy);
    await check();
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const unit = open.client.$transaction(async (transaction) => {
      await transaction.category.count();
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    for (let round = 0; round < 3; round += 1) await check();
    end.resolve();
    await unit;
    await check();
    await makeReadOnly(open);
    expect(await raised(check)).toMatchObject(unavailable);
    await open.close();
  });
});

describe('a PostgreSQL that is read-only on purpose', () => {
  it('is found well where DATABASE_URL says that reading will do', async () => {
    const open = await openEmptyDatabase('postgresql');
    await makeReadOnly(open);
    const url = `${open.settings.DATABASE_URL}?target_session_attrs=any`;
    const reading = await openDatabase(databaseSettings(url));
    await probeDatabase(reading);
    await reading.close();
    await open.close();
  });
});

/** Whether files can be made immutable here, as only root may, and on some file systems. */
function canMakeImmutable(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-immutable-'));
  const made = ['+i', '-i'].every((flag) => spawnSync('chattr', [flag, directory]).status === 0);
  rmSync(directory, { recursive: true });
  return made;
}

describe.runIf(databaseProviders.includes('sqlite') && canMakeImmutable())(
  'an SQLite file that nobody may change, not even root (needs chattr)',
  () => {
    it('is read, and found unavailable by the probe and each write, until it may be changed again', async () => {
      const open = await openEmptyDatabase('sqlite');
      const path = open.settings.DATABASE_URL.slice('file:'.length);
      const files = [path, `${path}-wal`].filter((file) => existsSync(file));
      const write = () => open.client.category.create({ data: { name: `a ${Math.random()}` } });
      await write();
      for (const file of files) execFileSync('chattr', ['+i', file]);
      try {
        expect(await raised(() => probeDatabase(open))).toMatchObject(unavailable);
        expect(await raised(write)).toMatchObject(unavailable);
        expect(await open.client.category.count()).toBe(1);
      } finally {
        for (const file of files) execFileSync('chattr', ['-i', file]);
      }
      await probeDatabase(open);
      await write();
      expect(await open.client.category.count()).toBe(2);
      await open.close();
    });
  },
);

describe.runIf(databaseProviders.includes('sqlite'))('an SQLite file that has no room left', () => {
  it('is a DatabaseUnavailableException at each write', async () => {
    const open = await openEmptyDatabase('sqlite');
    const [size] = await open.client.$queryRawUnsafe<{ page_count: bigint }[]>('PRAGMA page_count');
    await open.client.$queryRawUnsafe(`PRAGMA max_page_count = ${size?.page_count}`);
    const error = await raised(() => open.client.category.create({ data: { name: 'a'.repeat(1_000_000) } }));
    await open.close();
    expect(error).toMatchObject({ ...unavailable, message: 'Database Unavailable: its disk is full' });
  });
});
