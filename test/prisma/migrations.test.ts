import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OpenOrm, openDatabase } from '../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../src/chassis/database/migrations/apply-migrations.ts';
import { createMigration } from '../../src/chassis/database/migrations/create-migration.ts';
import { migrationsDirectory } from '../../src/chassis/database/migrations/migration-files.ts';
import { databaseProviders, emptyDatabase } from '../support/empty-database.ts';
import { raised } from '../support/raised.ts';

const models = join(import.meta.dirname, '../../prisma/models.prisma');
const advice = 'prisma/models.prisma and prisma/migrations differ. Run "npm run db:migrate -- --create <name>".';

function emptyFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-migrations-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Tables, columns, indexes and references of a database that the migrations of a folder made. */
async function schemaMadeBy(directory: string, provider: (typeof databaseProviders)[number]): Promise<string[]> {
  const { settings, remove } = await emptyDatabase(provider);
  onTestFinished(remove);
  await applyMigrations(settings, directory);
  const open = await openDatabase(settings);
  const schema = await (provider === 'sqlite' ? sqliteSchema(open) : postgresqlSchema(open));
  await open.close();
  return schema.filter((line) => !line.includes('_prisma_migrations')).sort();
}

async function sqliteSchema({ client }: OpenOrm): Promise<string[]> {
  const columns = `SELECT 'column ' || m.name || ' ' || json_array(c.name, c.type, c."notnull", c.dflt_value, c.pk) AS line
    FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'`;
  const references = `SELECT 'reference ' || m.name || ' ' || json_array(f."table", f."from", f."to", f.on_delete) AS line
    FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`;
  const indexes = "SELECT 'index ' || sql AS line FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
  return lines(client, [columns, references, indexes]);
}

async function postgresqlSchema({ client }: OpenOrm): Promise<string[]> {
  const columns = `SELECT concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default,
    character_maximum_length, datetime_precision) AS line FROM information_schema.columns WHERE table_schema = 'public'`;
  const references = `SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace`;
  const indexes = "SELECT 'index ' || indexdef AS line FROM pg_indexes WHERE schemaname = 'public'";
  return lines(client, [columns, references, indexes]);
}

async function lines(client: OpenOrm['client'], queries: string[]): Promise<string[]> {
  const results = await Promise.all(queries.map((sql) => client.$queryRawUnsafe<{ line: string }[]>(sql)));
  return results.flat().map(({ line }) => line);
}

describe.each(databaseProviders)('the migrations for %s', (provider) => {
  it('make what the models say', async () => {
    const fromModels = emptyFolder();
    await createMigration('all', { directory: fromModels });
    const [migrated, modelled] = await Promise.all([
      schemaMadeBy(migrationsDirectory, provider),
      schemaMadeBy(fromModels, provider),
    ]);
    expect(migrated.length).toBeGreaterThan(30);
    expect(migrated, advice).toEqual(modelled);
  });

  it('lead from the models of the last migration to changed ones', async () => {
    const directory = emptyFolder();
    cpSync(migrationsDirectory, directory, { recursive: true });
    const changed = join(directory, 'changed.prisma');
    const text = readFileSync(models, 'utf8').replace('model Category {', 'model Category {\n  colour String?');
    writeFileSync(changed, text.replace('  description String\n', '  description String @default("")\n'));
    const written = await createMigration('add_colour', { models: changed, directory });
    expect(written).toHaveLength(2);
    const fromModels = emptyFolder();
    await createMigration('all', { models: changed, directory: fromModels });
    expect(await schemaMadeBy(directory, provider)).toEqual(await schemaMadeBy(fromModels, provider));
  });
});

describe('createMigration', () => {
  it('writes nothing when the models are those of the last migration', async () => {
    const directory = emptyFolder();
    cpSync(migrationsDirectory, directory, { recursive: true });
    expect(await createMigration('nothing', { directory }), advice).toEqual([]);
    expect(readdirSync(join(directory, 'sqlite'))).toEqual(readdirSync(join(migrationsDirectory, 'sqlite')));
  });

  it('refuses a name that makes no good folder, and says what it expected', async () => {
    for (const name of ['', 'Add Colour', '../up', 'a__b']) {
      const error = await raised(() => createMigration(name, { directory: emptyFolder() }));
      expect(error.message).toContain('Expected a name of lower-case words joined by "_"');
    }
  });
});
