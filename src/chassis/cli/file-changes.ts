import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';

/** What a generation may change of a service: small files of text. */
const watched = ['prisma', 'src', 'test'];

/** What ends a command from outside; a process that is killed has no say. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does work that writes files. Where it fails, or a signal ends the process meanwhile, `undo` takes back what was written.
 *
 * @param undo is done at once, without waiting for anything
 * @throws what `work` raises
 */
export async function orUndo<T>(work: () => Promise<T>, undo: () => unknown): Promise<T> {
  const interrupt = (signal: (typeof signals)[number]) => {
    undo();
    console.error(`Ended by ${signal}; nothing is changed.`);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await work();
  } catch (error) {
    undo();
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

/**
 * Runs a generation, and puts the service's files back as they were where it fails or a signal ends it.
 *
 * @param root absolute path of the service
 * @param undone is called once the files are as they were
 * @throws what `work` raises
 */
export async function allOrNothing<T>(root: string, work: () => Promise<T>, undone: () => void): Promise<T> {
  const before = contents(root);
  return orUndo(work, () => {
    for (const file of contents(root).keys()) if (!before.has(file)) remove(root, file);
    for (const [file, content] of before) writeFileSync(join(root, file), content);
    undone();
  });
}

/** What is generated of the models is made anew. */
function contents(root: string): Map<string, Buffer> {
  const files = watched
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith(join('src', 'generated')));
  return new Map(files.map((file) => [file, readFileSync(join(root, file))]));
}

/** Removes a file by its path below a directory, with the folders that are empty then. */
export function remove(root: string, file: string): void {
  rmSync(join(root, file));
  for (
    let folder = dirname(file);
    folder !== '.' && readdirSync(join(root, folder)).length === 0;
    folder = dirname(folder)
  ) {
    rmSync(join(root, folder), { recursive: true });
  }
}

/** Writes files by their paths below a directory; the directories are made. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    // It has secrets, so no other user of the machine reads it.
    writeFileSync(join(root, file), text, { mode: file === '.env' ? 0o600 : 0o666 });
  }
}
