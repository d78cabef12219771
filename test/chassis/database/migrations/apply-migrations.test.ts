import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type DatabaseSettings, openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../../../src/chassis/database/migrations/apply-migrations.ts';
import { markApplied, markRolledBack } from '../../../../src/chassis/database/migrations/mark-migration.ts';
import { migrationNames, migrationsDirectory } from '../../../../src/chassis/database/migrations/migration-files.ts';
import { pendingMigrations } from '../../../../src/chassis/database/migrations/pending-migrations.ts';
import { freePort } from '../../../../src/chassis/testing/fake-peer.ts';
import { databaseProviders, emptyDatabase } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';

const root = join(import.meta.dirname, '../../../..');
const program = join(root, 'src/chassis/cli/main.ts');

async function freshDatabase(provider: (typeof databaseProviders)[number]) {
  const { settings, remove } = await emptyDatabase(provider);
  onTestFinished(remove);
  return settings;
}

async function pendingOn(settings: DatabaseSettings, directory?: string): Promise<string[]> {
  const open = await openDatabase(settings);
  try {
    return await pendingMigrations(open, migrationNames(open.provider, directory));
  } finally {
    await open.close();
  }
}

describe.each(databaseProviders)('migrations on %s', (provider) => {
  let directory: string;
  const bad = '20990101000000_bad';

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'slipway-migrations-'));
    cpSync(migrationsDirectory, directory, { recursive: true });
    mkdirSync(join(directory, provider, bad));
    writeFileSync(
      join(directory, provider, bad, 'migration.sql'),
      'CREATE TABLE half (id TEXT);\nCREATE TABLE broken (;\n',
    );
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('are applied once, in order, and are pending until then', async () => {
    const settings = await freshDatabase(provider);
    const names = migrationNames(provider);
    expect(await pendingOn(settings)).toEqual(names);
    expect(await applyMigrations(settings)).toEqual(names);
    expect(await applyMigrations(settings)).toEqual([]);
    expect(await pendingOn(settings)).toEqual([]);
  });

  it('are applied by one of several processes that start at once, while the others wait', async () => {
    const settings = await freshDatabase(provider);
    const env = { ...process.env, NODE_ENV: 'test', DATABASE_URL: settings.DATABASE_URL };
    const runs = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [program, 'migrate'], { env }));
    const outputs = (await Promise.all(runs)).map(({ stdout }) => stdout.trim()).sort();
    const applied = outputs.filter((line) => line.startsWith('Applied:'));
    expect(applied).toEqual([`Applied: ${migrationNames(provider).join(', ')}`]);
    expect(outputs.filter((line) => line === 'The database is up to date.')).toHaveLength(3);
    // A process that waits on PostgreSQL asks for the lock for 10 s at a time.
  }, 60_000);

  it('that fail are named, with the reason and what to do, and can be applied once corrected', async () => {
    const settings = await freshDatabase(provider);
    const error = await raised(() => applyMigrations(settings, directory));
    expect(error).toMatchObject({ name: 'MigrationError' });
    expect(error.message).toContain(`Migration ${bad} failed: `);
    expect(error.message).toContain('syntax error');
    expect(error.message).toContain(`prisma/migrations/${provider}/${bad}/migration.sql`);
    expect(error.message).toContain('npm run db:migrate');
    const again = await raised(() => applyMigrations(settings, directory));
    expect(again.message).toContain(`Migration ${bad} failed`);
    if (provider === 'postgresql') await markRolledBack(settings, bad);
    else expect(await pendingOn(settings, directory)).toEqual([...migrationNames(provider), bad]);
    const corrected = mkdtempSync(join(tmpdir(), 'slipway-migrations-'));
    cpSync(directory, corrected, { recursive: true });
    writeFileSync(join(corrected, provider, bad, 'migration.sql'), 'CREATE TABLE half (id TEXT);\n');
    expect(await applyMigrations(settings, corrected)).toContain(bad);
    rmSync(corrected, { recursive: true });
  });

  it('are not run where it was noted that the database has what they make', async () => {
    const settings = await freshDatabase(provider);
    await applyMigrations(settings);
    const { client, close } = await openDatabase(settings);
    await client.$executeRawUnsafe('DROP TABLE _prisma_migrations');
    await close();
    expect((await raised(() => applyMigrations(settings))).message).toContain('npm run db:migrate -- --applied <name>');
    for (const name of migrationNames(provider)) await markApplied(settings, name);
    expect(await applyMigrations(settings)).toEqual([]);
    expect(await pendingOn(settings)).toEqual([]);
  });

  it('are noted as applied or undone only where that can be', async () => {
    const settings = await freshDatabase(provider);
    const unknown = await raised(() => markApplied(settings, 'unknown'));
    expect(unknown.message).toBe(
      `There is no migration unknown for ${provider}, only ${migrationNames(provider).join(', ')}.`,
    );
    await applyMigrations(settings);
    const [first = ''] = migrationNames(provider);
    const twice = await raised(() => markApplied(settings, first));
    expect(twice.name).toBe('MigrationError');
    expect(twice.message).toBe(`The migration \`${first}\` is already recorded as applied in the database.`);
    const undone = await raised(() => markRolledBack(settings, 'unknown'));
    expect(undone.name).toBe('MigrationError');
    expect(undone.message).toMatch(/^Migration `unknown` cannot be rolled back because it was never applied/);
  });

  it('that cannot be read say where they were expected', async () => {
    const settings = await freshDatabase(provider);
    const error = await raised(() => applyMigrations(settings, '/nowhere'));
    expect(error.message).toContain(`Expected the migrations for ${provider} in /nowhere/${provider}`);
  });
});

describe.runIf(databaseProviders.includes('sqlite'))('migrations on sqlite', () => {
  it('that rebuild a table keep the records that refer to it', async () => {
    const settings = await freshDatabase('sqlite');
    await applyMigrations(settings);
    const { client, close } = await openDatabase(settings);
    const user = await client.user.create({
      data: { email: 'a', passwordHash: 'x', name: 'A', profile: { create: {} } },
    });
    const [table] = await client.$queryRaw<{ sql: string }[]>`SELECT sql FROM sqlite_master WHERE name = 'users'`;
    const create = `${table?.sql.replace('"users"', '"new_users"')};`;
    const copy = 'INSERT INTO new_users SELECT * FROM users; DROP TABLE users; ALTER TABLE new_users RENAME TO users;';
    const directory = mkdtempSync(join(tmpdir(), 'slipway-migrations-'));
    cpSync(migrationsDirectory, directory, { recursive: true });
    mkdirSync(join(directory, 'sqlite/20990101000000_rebuild'));
    writeFileSync(
      join(directory, 'sqlite/20990101000000_rebuild/migration.sql'),
      `PRAGMA foreign_keys=OFF;\n${create}\n${copy}\nPRAGMA foreign_keys=ON;\n`,
    );
    await applyMigrations(settings, directory);
    expect(await client.profile.count({ where: { userId: user.id } })).toBe(1);
    await close();
    rmSync(directory, { recursive: true });
  });
});

describe('migrations on postgresql', () => {
  it('go into the schema that the URL names, and so do the records', async () => {
    const settings = await freshDatabase('postgresql');
    const own = { ...settings, DATABASE_URL: `${settings.DATABASE_URL}?schema=own` };
    await applyMigrations(own);
    const { client, close } = await openDatabase(own);
    await client.category.create({ data: { name: 'Books' } });
    const sql =
      "SELECT table_schema, count(*)::int FROM information_schema.tables WHERE table_name = 'categories' GROUP BY 1";
    const tables = await client.$queryRawUnsafe(sql);
    const rows = await client.$queryRawUnsafe('SELECT name FROM own.categories');
    await close();
    expect(tables).toEqual([{ table_schema: 'own', count: 1 }]);
    expect(rows).toEqual([{ name: 'Books' }]);
    expect(await pendingOn(settings)).toEqual(migrationNames('postgresql'));
  });

  it('of a server that is not there say what the connection met, as a start does', async () => {
    const port = await freePort();
    const error = await raised(() =>
      applyMigrations({ DATABASE_URL: `postgresql://me:secret@127.0.0.1:${port}/shop` }),
    );
    expect(error).toMatchObject({ name: 'MigrationError' });
    expect(error.message).toBe(
      `The database at 127.0.0.1:${port}/shop cannot be migrated: connection refused at 127.0.0.1:${port}. ` +
        'Check DATABASE_URL and that the database runs.',
    );
  });
});
