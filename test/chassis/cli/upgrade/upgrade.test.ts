import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { baseFiles } from '../../../../src/chassis/cli/service/base-files.ts';
import { ownPackage } from '../../../../src/chassis/cli/service/package-file.ts';
import { changesSince, isNewer } from '../../../../src/chassis/cli/upgrade/changes-since.ts';
import { codemods } from '../../../../src/chassis/cli/upgrade/codemods.ts';
import { upgradedPackageFile } from '../../../../src/chassis/cli/upgrade/upgraded-package-file.ts';

describe('what has changed', () => {
  const text = '# Changelog\n\n## Unreleased\n\n- c\n\n## 1.10.0 (May)\n\n- b\n\n## 1.9.0\n\n- a\n';

  it('is what the changelog says of later versions, and of none before', () => {
    expect(changesSince(text, '1.9.0')).toBe('## Unreleased\n\n- c\n\n## 1.10.0 (May)\n\n- b');
    expect(changesSince(text, '1.10.0')).toBe('## Unreleased\n\n- c');
  });

  it.each([
    ['1.10.0', '1.9.9', true],
    ['2.0.0', '1.9.9', true],
    ['1.0.0', '1.0.0', false],
    ['1.0.0', '1.0.1', false],
  ])('%s after %s: %s', (version, other, expected) => expect(isNewer(version, other)).toBe(expected));
});

describe('an upgraded package.json', () => {
  const own = ownPackage();
  const given = {
    name: 'shop',
    version: '3.2.1',
    scripts: { start: 'node --inspect src/main.ts' },
    dependencies: { express: '4.0.0', lodash: '^4.0.0', slipway: 'file:vendor/slipway-0.9.0.tgz', zod: '^99.0.0' },
    devDependencies: { vitest: '1.0.0' },
    overrides: { mine: '1.0.0' },
  };
  const upgraded = JSON.parse(upgradedPackageFile(JSON.stringify(given), '^1.0.0', own));

  it('names the versions that the chassis is tested with where it had older ones, and adds no package', () => {
    expect(upgraded.dependencies).toEqual({
      express: own.peerDependencies['express'],
      lodash: '^4.0.0',
      slipway: '^1.0.0',
      zod: '^99.0.0',
    });
    expect(upgraded.devDependencies).toEqual({ vitest: own.peerDependencies['vitest'] });
  });

  it('keeps what the service has decided, and gets the scripts that it lacks', () => {
    expect(upgraded).toMatchObject({ name: 'shop', version: '3.2.1', overrides: { mine: '1.0.0' } });
    expect(upgraded.scripts.start).toBe('node --inspect src/main.ts');
    expect(upgraded.scripts.build).toContain('slipway build');
  });
});

describe('codemods', () => {
  it('give a service what it lacks, and nothing to one that was made by this version', () => {
    const root = mkdtempSync(join(tmpdir(), 'slipway-upgrade-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const service = { root, name: 'shop', slipway: 'file:vendor/slipway-1.0.0.tgz' };
    const made = Object.assign({}, ...codemods.map(({ files }) => files(service)));
    expect(Object.keys(made).toSorted()).toEqual(['.dockerignore', 'Dockerfile']);
    const fresh = baseFiles({ ...service, auth: 'token', database: 'both' });
    for (const [file, text] of Object.entries<string>(made)) {
      expect(text).toBe(fresh[file]);
      writeFileSync(join(root, file), text);
    }
    expect(Object.assign({}, ...codemods.map(({ files }) => files(service)))).toEqual({});
  });

  it('have the program of a service wait for nothing at its top, as that of this version', () => {
    const root = mkdtempSync(join(tmpdir(), 'slipway-upgrade-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const service = { root, name: 'shop', slipway: 'file:vendor/slipway-1.0.0.tgz' };
    const fresh = baseFiles({ ...service, auth: 'token', database: 'both' })['src/main.ts'] ?? '';
    mkdirSync(join(root, 'src'));
    const changed = () => Object.assign({}, ...codemods.map(({ files }) => files(service)))['src/main.ts'];
    writeFileSync(join(root, 'src/main.ts'), fresh.replace('void runService', 'await runService'));
    expect(changed()).toBe(fresh);
    writeFileSync(join(root, 'src/main.ts'), fresh);
    expect(changed()).toBe(undefined);
  });
});

/** Upgrades a service of these files by a tarball, with this as npm, and gives what came of it. */
function upgradeBy(npm: string, given: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-upgrade-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [root, tarball] = [join(directory, 'shop'), join(directory, 'slipway-1.0.0.tgz')];
  writeFileSync(join(directory, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  writeFileSync(tarball, 'newer');
  mkdirSync(root);
  for (const [file, text] of Object.entries(given)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const program = join(import.meta.dirname, '../../../../src/chassis/cli/main.ts');
  const args = [program, 'upgrade', '--package', tarball];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env: { PATH: directory } });
  const paths = readdirSync(root, { recursive: true }) as string[];
  const files = paths.filter((path) => statSync(join(root, path)).isFile());
  const left = Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  return { status, stderr: String(stderr), paths, left };
}

const vendors = [
  ['of a version', '^0.9.0', {}],
  ['of a tarball', 'file:vendor/slipway-0.9.0.tgz', { 'vendor/slipway-0.9.0.tgz': 'older' }],
  ['of a tarball of the same name', 'file:vendor/slipway-1.0.0.tgz', { 'vendor/slipway-1.0.0.tgz': 'older' }],
] as const;

describe('an upgrade', () => {
  it.each(
    vendors.flatMap(([of, slipway, vendored]) =>
      ['exit 1', 'kill -INT $PPID; exit 1'].map((npm) => ({ of, slipway, vendored, npm })),
    ),
  )('whose packages npm cannot install ($npm) leaves a service $of as it was', ({ slipway, vendored, npm }) => {
    const packages = `{"name":"shop","dependencies":{"slipway":"${slipway}"}}`;
    const { status, stderr, paths, left } = upgradeBy(npm, { 'package.json': packages, ...vendored });
    expect([status, stderr]).toEqual([1, expect.stringContaining('the files are as they were.')]);
    expect(left).toEqual({ 'package.json': packages, ...vendored });
    expect(paths.includes('vendor')).toBe(Object.keys(vendored).length > 0);
  });

  it.each(vendors)('of a service %s leaves the new tarball alone in vendor/', (_, slipway, vendored) => {
    const packages = `{"name":"shop","dependencies":{"slipway":"${slipway}"}}`;
    const { paths, left } = upgradeBy('exit 0', { 'package.json': packages, ...vendored });
    expect(paths.filter((path) => path.startsWith('vendor/'))).toEqual(['vendor/slipway-1.0.0.tgz']);
    expect(left['vendor/slipway-1.0.0.tgz']).toBe('newer');
    expect(JSON.parse(left['package.json'] ?? '').dependencies.slipway).toBe('file:vendor/slipway-1.0.0.tgz');
  });
});
