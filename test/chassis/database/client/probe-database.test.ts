import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { type OpenOrm, openDatabase } from '../../../../src/chassis/database/client/orm.ts';
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

/** Lets an SQLite file grow no more; has PostgreSQL refuse new rows and tables as it does without disk. Gives what undoes it. */
async function fillDisk({ client, provider, settings }: Awaited<ReturnType<typeof openEmptyDatabase>>) {
  const run = (sql: string) => client.$queryRawUnsafe(sql);
  if (provider === 'sqlite') {
    const [size] = (await run('PRAGMA page_count')) as { page_count: bigint }[];
    await run(`PRAGMA max_page_count = ${size?.page_count}`);
    return () => run('PRAGMA max_page_count = 1000000');
  }
  const full = (kind: string) => `CREATE FUNCTION full_${kind}() RETURNS ${kind} LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`;
  const server = new Client({ connectionString: settings.DATABASE_URL });
  await server.connect();
  await server.query(full('trigger'));
  await server.query(full('event_trigger'));
  await server.query('CREATE TRIGGER full_disk BEFORE INSERT ON categories EXECUTE FUNCTION full_trigger()');
  await server.query('CREATE EVENT TRIGGER full_disk ON ddl_command_start EXECUTE FUNCTION full_event_trigger()');
  return async () => {
    // Event triggers do not fire for statements about event triggers.
    await server.query('DROP EVENT TRIGGER full_disk');
    await server.query('DROP TRIGGER full_disk ON categories');
    await server.end();
  };
}

describe.each(databaseProviders)('the full disk of %s', (provider) => {
  const full = { ...unavailable, message: 'Database Unavailable: its disk is full' };
  const writes = {
    'a write': ({ client }: OpenOrm, name: string) => client.category.create({ data: { name } }),
    'a unit of work': ({ client }: OpenOrm, name: string) =>
      client.$transaction((transaction) => transaction.category.create({ data: { name } })),
  };

  it.each(Object.entries(writes))(
    'fails %s with 503 and then the probe, until there is room again, which the probe finds by itself',
    async (_what, write) => {
      const open = await openEmptyDatabase(provider);
      const makeRoom = await fillDisk(open);
      expect(await raised(() => write(open, 'a'.repeat(1_000_000)))).toMatchObject(full);
      for (let round = 0; round < 3; round += 1) expect(await raised(() => probeDatabase(open))).toMatchObject(full);
      expect(await open.client.category.count()).toBe(0);
      await makeRoom();
      await probeDatabase(open);
      await write(open, 'a');
      expect(await open.client.category.count()).toBe(1);
      await open.close();
    },
  );

  it('is looked for only after an operation found it, by a write that leaves nothing behind', async () => {
    const open = await openEmptyDatabase(provider);
    const kept = async () =>
      provider === 'sqlite' && [
        await open.client.$queryRawUnsafe('PRAGMA cache_size'),
        await open.client.$queryRawUnsafe('PRAGMA page_count'),
      ];
    const before = await kept();
    for (let round = 0; round < 2; round += 1) {
      open.disk.wasFull = true;
      await probeDatabase(open);
      expect(open.disk.wasFull).toBe(false);
    }
    const makeRoom = await fillDisk(open);
    await probeDatabase(open);
    open.disk.wasFull = true;
    expect(await raised(() => probeDatabase(open))).toMatchObject(full);
    expect(await kept()).toEqual(before);
    await makeRoom();
    await open.close();
  });
});

describe.runIf(databaseProviders.includes('postgresql'))('a role of PostgreSQL without temporary tables', () => {
  it('is found well by the probe, also after its disk was full', async () => {
    const { settings, remove } = await emptyDatabase('postgresql');
    const url = new URL(settings.DATABASE_URL);
    const [database, role] = [url.pathname.slice(1), `bare_${url.pathname.slice(1)}`];
    await onServer(`CREATE ROLE ${role} LOGIN PASSWORD 'bare'`);
    await onServer(`REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC`);
    Object.assign(url, { username: role, password: 'bare' });
    const open = await openDatabase(databaseSettings(url.href));
    open.disk.wasFull = true;
    await probeDatabase(open);
    await open.close();
    await remove();
    await onServer(`DROP ROLE ${role}`);
  });
});
