import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import { prismaDirectory } from '../../config/layout.ts';
import type { DatabaseProvider } from '../client/database-url.ts';
import { providersOf } from '../models/provider-models.ts';
import { mappedName, readModels } from '../models/read-models.ts';
import { migrationsDirectory } from './migration-files.ts';
import { datamodel, schemaFilters, withSchemaEngine } from './schema-engine.ts';

/** Where migrations are made from, and where they go. */
interface MigrationSources {
  /** The models as they shall be. Default prisma/models.prisma. */
  models?: string;
  /** Default prisma/migrations; its file models.prisma holds the models as of the last migration. */
  directory?: string;
}

/**
 * Writes one migration for each database of the models, which leads from the models of the last migration to those of now, and returns the
 * files; none when nothing changed. Needs no database. `name` becomes part of the folder's name. Read what it wrote before
 * it is applied: what cannot be derived from models, such as values for a new required field, must be added by hand.
 */
export async function createMigration(name: string, sources: MigrationSources = {}): Promise<string[]> {
  const { models = join(prismaDirectory, 'models.prisma'), directory = migrationsDirectory } = sources;
  if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) {
    throw new Error(
      `Expected a name of lower-case words joined by "_", got "${name}". For example: add_product_weight.`,
    );
  }
  const snapshot = join(directory, 'models.prisma');
  const [before, after] = await Promise.all([
    readFile(snapshot, 'utf8').catch(emptyWhenMissing),
    readFile(models, 'utf8'),
  ]);
  const folder = `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${name}`;
  const written: string[] = [];
  for (const provider of providersOf(after)) {
    const sql = await difference(provider, before, after);
    if (sql === undefined) continue;
    await mkdir(join(directory, provider, folder), { recursive: true });
    const file = join(directory, provider, folder, 'migration.sql');
    await writeFile(file, sql);
    written.push(file);
  }
  await writeFile(snapshot, after);
  return written;
}

/** The SQL that leads from one set of models to another; undefined when it would do nothing. */
async function difference(provider: DatabaseProvider, before: string, after: string): Promise<string | undefined> {
  const from = { tag: 'schemaDatamodel' as const, files: [datamodel(provider, before)] };
  const to = { tag: 'schemaDatamodel' as const, files: [datamodel(provider, after)] };
  const params = { from, to, script: true, exitCode: true, filters: schemaFilters };
  // The engine asks for a database although it needs none to compare two sets of models.
  const unused = new PrismaLibSql({ url: ':memory:' });
  const { exitCode, stdout } = await withSchemaEngine(provider, unused, (engine) => engine.diff(params));
  if (exitCode !== 2 || !stdout) return undefined;
  return provider === 'sqlite' ? withCountedIds(stdout, after) : stdout;
}

/**
 * The engine makes identifiers that count up only of Int columns; SQLite's INTEGER holds the 64 bits of a BigInt too.
 */
function withCountedIds(sql: string, models: string): string {
  const declared = readModels(models);
  const counted = new Map(
    [...declared.models].flatMap(([model, fields]) => {
      const id = fields.find(({ type, attributes }) => type === 'BigInt' && /@id\b.*autoincrement\(/.test(attributes));
      return id ? [[declared.tables.get(model) ?? model, mappedName(id.attributes) ?? id.name] as const] : [];
    }),
  );
  return sql.replace(/CREATE TABLE "(?:new_)?([^"]+)" \([^;]*;/g, (statement, table: string) => {
    const id = counted.get(table);
    const column = `"${id}" BIGINT NOT NULL PRIMARY KEY`;
    return id ? statement.replace(column, `"${id}" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT`) : statement;
  });
}

function emptyWhenMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
