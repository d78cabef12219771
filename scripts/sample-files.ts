import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** What a repository of the reference service holds of this one: the service, its models and data, and its tests. */
const own = ['src/main.ts', 'src/app.config.ts', 'src/modules/**/*', 'prisma/**/*', 'test/modules/**/*'];

/**
 * The reference service: its files by their paths, as `slipway new --sample` writes them. Of test/support come the files that
 * its tests import.
 *
 * @throws Error for a file that imports the inside of the chassis, which a service does not see
 */
export function sampleFiles(): Record<string, string> {
  const texts = new Map<string, string>();
  const pending = globSync(own, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    const path = file.slice(root.length + 1);
    if (texts.has(path)) continue;
    if (path.startsWith('src/chassis/')) throw new Error(`Expected imports of "slipway" only, found one of ${path}.`);
    const text = readFileSync(file, 'utf8');
    texts.set(path, text);
    pending.push(...(path.endsWith('.ts') ? importsOf(file, text) : []));
  }
  return Object.fromEntries([...texts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Paths of the files beside it that a file imports, absolute where its own is; those in examples of comments too. */
export function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"]+)\1/g)].map(([, , path = '']) =>
    join(dirname(file), path),
  );
}
