import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs the packages of a service. What a package asks of the Node that runs npm stays out of the lock file: scripts run
 * on the Node that the service brings, and npm would warn of each such package at every later installation.
 *
 * @param root absolute path of the service
 * @param options.quiet leaves npm's warnings out, and none of its errors. Default: false
 * @returns whether npm has installed them
 */
export function installPackages(root: string, { quiet = false } = {}): boolean {
  const args = ['install', '--no-audit', '--no-fund', ...(quiet ? ['--loglevel=error'] : [])];
  if (spawnSync('npm', args, { cwd: root, stdio: 'inherit' }).status !== 0) return false;
  const file = join(root, 'package-lock.json');
  if (existsSync(file)) writeFileSync(file, withoutEngines(readFileSync(file, 'utf8')));
  return true;
}

/** A lock file without the engines of its packages; those of the service itself stay. */
export function withoutEngines(text: string): string {
  const lock = JSON.parse(text) as { packages?: Record<string, { engines?: object }> };
  for (const [path, entry] of Object.entries(lock.packages ?? {})) if (path !== '') delete entry.engines;
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}
