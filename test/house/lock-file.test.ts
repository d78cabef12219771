import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, root } from './repository.ts';

interface LockFile {
  packages: Record<string, { engines?: object }>;
}

/** The lock file without what packages ask of the Node that runs them, which is the one that it brings. */
function withoutEngines(text: string): string {
  const lock = JSON.parse(text) as LockFile;
  for (const [path, entry] of Object.entries(lock.packages)) if (path !== '') delete entry.engines;
  return `${JSON.stringify(lock, null, 2)}\n`;
}

const runtime = 'node_modules/node';
const { engines, devDependencies } = JSON.parse(read('package.json')) as {
  engines: { node: string };
  devDependencies: Record<string, string>;
};

describe('an installation', () => {
  // npm compares these with the Node that runs npm, and prints six lines for each package that asks for a newer one,
  // though every script runs on the Node of this file. After an install that brought some back:
  // npm test -- test/house/lock-file -u
  it('warns of no package that asks for a newer Node than the one that runs npm', async () => {
    await expect(withoutEngines(read('package-lock.json'))).toMatchFileSnapshot(join(root, 'package-lock.json'));
  });

  it('brings the Node that scripts run on, and asks for one that can run npm', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version?: string; engines?: { node: string } }>;
    };
    expect(packages[runtime]?.version).toBe(devDependencies['node']);
    expect(engines.node).toBe('>=20');
    expect(packages['']?.engines).toEqual(engines);
    expect(read('README.md')).toContain('With Node 20 or newer and npm');
  });
});
