import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasSample, read, root } from './repository.ts';

const readme = read('README.md');
const contributing = read('CONTRIBUTING.md');
const lines = readme.split('\n');

describe('README.md', () => {
  it('says what it is in one sentence and how to start by line 25', () => {
    expect(lines[2]).toMatch(/^Slipway is [^.]+\.$/);
    expect(lines.indexOf('npm ci')).toBeGreaterThan(0);
    expect(lines.indexOf('npm start')).toBeLessThan(25);
  });

  it('fits 150 lines', () => expect(lines.length).toBeLessThanOrEqual(151));

  it('has figures of costs as they were measured', () => {
    const rows = readme.split('\n').filter((line) => /^\| (unknown|one by|narrow|wide|memory)/.test(line));
    expect(rows.length).toBeGreaterThan(3);
    const measured = read('load-tests/peers/README.md').split('\n');
    expect(rows.filter((row) => !measured.includes(row))).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('names every script, and only scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...contributing.matchAll(/^\| `npm (?:run )?([\w:-]+)` \|/gm)].map(([, name]) => name);
    const own = Object.keys(scripts).filter(
      (name) =>
        !(/^(pre|post)/.test(name) && [...Object.keys(scripts), 'pack'].includes(name.replace(/^(pre|post)/, ''))),
    );
    expect(named.toSorted()).toEqual(own.toSorted());
  });

  it.skipIf(!hasSample)('shows a layout that exists', () => {
    const layout = contributing.split('## Layout')[1]?.split('```')[1] ?? '';
    const paths = layout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s/, 1)[0] ?? '');
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe.skipIf(!hasSample)('the service embedded in docs/how-to/embed.md', () => {
  it('starts, tells its addresses and ends', async () => {
    const [, source = ''] = /```ts\n([\s\S]*?)```/.exec(read('docs/how-to/embed.md')) ?? [];
    const directory = mkdtempSync(join(tmpdir(), 'slipway-readme-'));
    try {
      const file = join(directory, 'embed.ts');
      writeFileSync(file, source.replace("'slipway'", `'${root}/src/chassis/index.ts'`));
      const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: directory, timeout: 60_000 });
      expect(stdout).toMatch(/^http:\/\/\S+ http:\/\/\S+$/m);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }, 60_000);
});
