import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSample, read, repositoryFiles, root } from '../house/repository.ts';

const rows = [...read('test/hostile/README.md').matchAll(/^\| ([^|]+) \| `([^`]+)` \| ([^|]+) \|$/gm)].map(
  ([, attempt = '', file = '', title = '']) => ({ attempt, file, title }),
);

describe('the table of hostile input', () => {
  const present = rows.filter(({ file }) => hasSample || !file.startsWith('test/modules/'));

  it.each(present)('names a test that exists for: $attempt', ({ file, title }) => {
    expect(existsSync(join(root, file))).toBe(true);
    // Not toContain, whose failure would print the whole file.
    expect(read(file).includes(title)).toBe(true);
  });

  it('names every test file of its directory', () => {
    const named = new Set(rows.map(({ file }) => file));
    const files = repositoryFiles(/^test\/hostile\/.*\.test\.ts$/).filter((file) => !file.endsWith('/table.test.ts'));
    expect(files.filter((file) => !named.has(file))).toEqual([]);
  });
});
