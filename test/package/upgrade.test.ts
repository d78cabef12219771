import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../house/repository.ts';
import { pack, packAt, run } from './pack.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-upgrade-'));
const shop = join(directory, 'shop');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The last release; before the first one, the last commit whose services had no image. */
function previousRelease(): string {
  const [latest] = execFileSync('git', ['tag', '--list', 'v*', '--sort=-v:refname'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\n');
  return latest || 'c7d3b01ca40cb7849e08cecd3c536aeb6ff3c824';
}

describe('a service of the previous release', () => {
  it('is upgraded by one command of the new one, which tells what has changed, and passes its tests', async () => {
    mkdirSync(join(directory, 'old'));
    const old = await packAt(join(directory, 'old'), previousRelease());
    await run('npx', ['--yes', `--package=${old.tarball}`, 'slipway', 'new', 'shop', '--yes'], directory);
    const { tarball } = await pack(directory, '9.9.9');
    const { stdout } = await run('npx', ['--yes', `--package=${tarball}`, 'slipway', 'upgrade'], shop);
    expect(stdout).toContain('shop is on slipway 9.9.9; it was on 1.');
    expect(stdout).toContain('- the image: a Dockerfile and its .dockerignore: Dockerfile, .dockerignore');
    expect(stdout).toContain('### Breaking');
    const { dependencies } = JSON.parse(readFileSync(join(shop, 'package.json'), 'utf8'));
    expect(dependencies.slipway).toBe('file:vendor/slipway-9.9.9.tgz');
    const checked = await run('npm', ['run', 'check'], shop);
    expect(checked.stdout).toMatch(/Test Files +\d+ passed \(\d+\)/);
    await run('npm', ['run', 'build'], shop);
  }, 560_000);

  it('is left alone by an older program', async () => {
    const { tarball } = await pack(directory, '0.0.1');
    const older = run('npx', ['--yes', `--package=${tarball}`, 'slipway', 'upgrade', '--no-install'], shop);
    await expect(older).rejects.toThrow(
      'Expected a version up to 0.0.1, which this program has; the service has 9.9.9.',
    );
  }, 120_000);
});
