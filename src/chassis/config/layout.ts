import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** `src` when the service runs from source, `dist` once it is built; the build keeps this file two folders below it. */
export const sourcesDirectory = join(import.meta.dirname, '../..');

/** Extension of the service's own files: `.ts` from source, `.js` once built. */
export const sourceExtension = basename(import.meta.filename).endsWith('.ts') ? '.ts' : '.js';

/** Migrations, and the models that they are written from; beside the sources, and beside the build. */
export const prismaDirectory = join(sourcesDirectory, '../prisma');

/** Where the clients of the databases lie, one folder each: beside the chassis, as .ts in the source and as .js in the build. */
export const generatedDirectory = join(sourcesDirectory, 'generated');

/** Whether the service runs on PostgreSQL only: its models name that as their `datasource`, so no other client was made. */
export function isPostgresqlOnly(directory = generatedDirectory): boolean {
  return existsSync(join(directory, 'postgresql')) && !existsSync(join(directory, 'sqlite'));
}

/** Absolute path of a program of prisma/, such as `migrate`: beside the sources, or in the build. */
export function databaseProgram(name: string): string {
  const directory = sourceExtension === '.ts' ? prismaDirectory : join(sourcesDirectory, 'prisma');
  return join(directory, `${name}${sourceExtension}`);
}

/** The directory that holds one directory per module, where `createService` is told of no other. */
export const defaultModulesDirectory = join(sourcesDirectory, 'modules');
