import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The directory of package.json. */
export const root = join(import.meta.dirname, '../..');

/** Whether the reference service is there, of which some documents tell; a copy without src/modules is whole all the same. */
export const hasSample = existsSync(join(root, 'src/modules'));

/** The text of a file, by its path from the root. */
export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Paths from the root of every file that git tracks or would track, optionally those that match. */
export function repositoryFiles(pattern = /./): string[] {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = execFileSync('git', options, { cwd: root, encoding: 'utf8' }).split('\0');
  const gone = new Set(
    execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: root, encoding: 'utf8' }).split('\0'),
  );
  return listed.filter((path) => path !== '' && !gone.has(path) && pattern.test(path));
}

/** The syntax tree of a TypeScript file, by its path from the root. */
export function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
}
