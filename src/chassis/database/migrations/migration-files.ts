import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prismaDirectory } from '../../config/layout.ts';
import type { DatabaseProvider } from '../client/database-url.ts';

/** The folder with one folder of migrations per database, and the models as of the last migration. */
export const migrationsDirectory = join(prismaDirectory, 'migrations');

/**
 * Whether the models say something that no migration leads to; comments, spaces and the database that they are for count
 * for nothing. False where the models are not there, as in the image.
 *
 * @param models the models as they are; default prisma/models.prisma
 */
export function modelsLackMigration(models = join(prismaDirectory, 'models.prisma'), directory = migrationsDirectory) {
  const snapshot = join(directory, 'models.prisma');
  if (!existsSync(models)) return false;
  const meaning = (file: string) =>
    readFileSync(file, 'utf8')
      .replace(/\/\/.*$/gm, '')
      .replace(/^\s*datasource\s+\w+\s*\{[^}]*\}/m, '')
      .replace(/\s+/g, ' ')
      .trim();
  return meaning(models) !== (existsSync(snapshot) ? meaning(snapshot) : '');
}

/** Names of the migrations for a database, oldest first. @throws Error when there is no folder of them */
export function migrationNames(provider: DatabaseProvider, directory = migrationsDirectory): string[] {
  const folder = join(directory, provider);
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    throw new Error(
      `Expected the migrations for ${provider} in ${folder}. Ship the folder prisma/ beside the program.`,
      {
        cause: error,
      },
    );
  }
}

/** The migrations of a database in the form that the schema engine takes. */
export function migrationList(provider: DatabaseProvider, directory = migrationsDirectory) {
  const baseDir = join(directory, provider);
  const migrationDirectories = migrationNames(provider, directory).map((name) => ({
    path: name,
    migrationFile: { path: 'migration.sql', content: contentOf(join(baseDir, name, 'migration.sql')) },
  }));
  const lockfile = { path: 'migration_lock.toml', content: `provider = "${provider}"\n` };
  return { baseDir, lockfile, shadowDbInitScript: '', migrationDirectories };
}

function contentOf(file: string): { tag: 'ok'; value: string } {
  return { tag: 'ok', value: readFileSync(file, 'utf8') };
}
