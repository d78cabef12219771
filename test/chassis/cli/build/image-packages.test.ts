import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { imagePackages } from '../../../../src/chassis/cli/build/image-packages.ts';
import { unbundledPackages } from '../../../../src/chassis/cli/build/unbundled-packages.ts';
import { root } from '../../../house/repository.ts';

/** A service with these dependencies and files of packages. */
function service(packageFile: object, locked: Record<string, object>, files: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-image-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'package.json'), JSON.stringify(packageFile));
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ packages: { '': packageFile, ...locked } }));
  for (const file of files) {
    mkdirSync(join(directory, file, '..'), { recursive: true });
    writeFileSync(join(directory, file), '');
  }
  return directory;
}

describe('the packages of an image', () => {
  const files = ['sharp/package.json', 'sharp/index.js', 'sharp/README.md', 'sharp/node_modules/lib/index.js'].map(
    (file) => `node_modules/${file}`,
  );
  const bundled = ['zod/package.json', 'zod/LICENSE', 'zod/index.js', 'vitest/index.js'].map(
    (file) => `node_modules/${file}`,
  );
  const locked = {
    'node_modules/sharp': { dependencies: { lib: '1' } },
    'node_modules/sharp/node_modules/lib': {},
    'node_modules/zod': {},
    'node_modules/vitest': { dev: true },
  };
  const dependencies = { sharp: '1', zod: '4' };

  it('are those that the service names, with what they need, and of others licence and version', () => {
    const own = { dependencies, slipway: { unbundled: ['sharp'] } };
    expect(imagePackages(service(own, locked, [...files, ...bundled])).files.toSorted()).toEqual(
      [
        'sharp/index.js',
        'sharp/node_modules/lib/index.js',
        'sharp/package.json',
        'zod/LICENSE',
        'zod/package.json',
      ].map((file) => `node_modules/${file}`),
    );
  });

  it('are named among the dependencies only', () => {
    const own = { dependencies, slipway: { unbundled: ['sharp', 'shrap'] } };
    expect(() => unbundledPackages(service(own, {}, []))).toThrow('got shrap.');
  });

  it('of this repository have something of each kind that is left out, so that the list cannot rot', () => {
    const { unmatched, packages, installed, bytes } = imagePackages(root);
    expect(unmatched).toEqual([]);
    expect(packages).toBeLessThan(installed);
    expect(bytes).toBeLessThan(30e6);
  });
});
