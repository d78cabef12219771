import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../terminal.ts';
import { ownPackage, packageDirectory } from './package-file.ts';

/** Where a new service takes the chassis from: a version, or a tarball that is copied into the service. */
export interface PackageSource {
  readonly spec: string;
  /** Absolute path of the tarball; undefined for a version. */
  readonly tarball?: string;
}

/**
 * The chassis that this program belongs to, as npm installed it: from the same tarball, or in the same version.
 *
 * @param given a version or the path of a tarball, where the caller names one
 * @throws UsageError where a tarball is not there, or this program was not installed by npm
 */
export function packageSource(given?: string): PackageSource {
  if (given !== undefined) return isTarball(given) ? tarballAt(resolve(given.replace(/^file:/, ''))) : { spec: given };
  const installed = dirname(packageDirectory);
  const lock = join(installed, '.package-lock.json');
  if (basename(installed) !== 'node_modules' || !existsSync(lock)) {
    throw new UsageError(
      'Expected slipway as npm installs it, found its sources; name a version or a tarball by --package.',
    );
  }
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { resolved?: string }> };
  const from = packages['node_modules/slipway']?.resolved ?? '';
  if (!from.startsWith('file:')) return { spec: `^${ownPackage().version}` };
  const path = from.slice('file:'.length);
  return tarballAt(isAbsolute(path) ? path : join(installed, '..', path));
}

function isTarball(spec: string): boolean {
  return spec.startsWith('file:') || spec.endsWith('.tgz');
}

function tarballAt(tarball: string): PackageSource {
  if (!existsSync(tarball))
    throw new UsageError(`Expected the tarball of slipway at ${tarball}, found nothing; name it by --package.`);
  return { spec: `file:vendor/${basename(tarball)}`, tarball };
}

/** Copies the tarball into a service, so that its image finds it too. */
export function copyTarball({ tarball }: PackageSource, root: string): void {
  if (tarball === undefined) return;
  mkdirSync(join(root, 'vendor'), { recursive: true });
  copyFileSync(tarball, join(root, 'vendor', basename(tarball)));
}
