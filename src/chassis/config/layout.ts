import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What holds the folder `chassis`: `src` of this repository, the build of a service, or `lib` of the package. */
const own = join(import.meta.dirname, '../..');
const ownExtension = basename(import.meta.filename).endsWith('.ts') ? '.ts' : '.js';

/** The package serves the service of the working directory, which runs from source. */
const isPackage = basename(own) === 'lib';

/** `src` when the service runs from source, `dist` once it is built; the build keeps this file two folders below it. */
export const sourcesDirectory = isPackage ? resolve('src') : own;

/** Extension of the service's own files: `.ts` from source, `.js` once built. */
export const sourceExtension = isPackage ? '.ts' : ownExtension;

/** Migrations, and the models that they are written from; beside the sources, and beside the build. */
export const prismaDirectory = join(sourcesDirectory, '../prisma');

/** Where the clients of the databases lie, one folder each: beside the modules, as .ts in the source and as .js in the build. */
export const generatedDirectory = join(sourcesDirectory, 'generated');

/** Whether the service runs on PostgreSQL only: its models name that as their `datasource`, so no other client was made. */
export function isPostgresqlOnly(directory = generatedDirectory): boolean {
  return existsSync(join(directory, 'postgresql')) && !existsSync(join(directory, 'sqlite'));
}

/** Absolute path of a program of prisma/, such as `seed`: beside the sources, or in the build. */
export function databaseProgram(name: string): string {
  const directory = sourceExtension === '.ts' ? prismaDirectory : join(sourcesDirectory, 'prisma');
  return join(directory, `${name}${sourceExtension}`);
}

/** Absolute path of a file of the chassis that is found by its place, such as `database/sqlite/sqlite-worker`. */
export function chassisFile(name: string): string {
  return join(own, 'chassis', `${name}${ownExtension}`);
}

/** The directory that holds one directory per module, where `createService` is told of no other. */
export const defaultModulesDirectory = join(sourcesDirectory, 'modules');

/**
 * Loads a file that is found by its place, not by an import that a bundler sees. In the build this requires a script.
 *
 * @param path absolute
 */
export const importFile = (path: string) => import(pathToFileURL(path).href);
