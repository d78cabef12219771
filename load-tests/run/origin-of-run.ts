import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Origin } from '../lib/origin.ts';
import type { RunArguments } from './arguments.ts';
import { thisMachine } from './machine.ts';
import { serviceDirectory } from './places.ts';

/** What this command knows of the origin of a run; of a service that runs already, only k6 and the machine. */
export function originOfRun(
  k6: string,
  asked: Pick<RunArguments, 'target' | 'bundle' | 'database' | 'size'>,
): Partial<Origin> {
  const [version = 'unknown'] = /v[\d.]+\S*/.exec(execFileSync(k6, ['version'], { encoding: 'utf8' })) ?? [];
  const own = { machine: thisMachine(), k6: version };
  if (asked.target !== undefined) return own;
  const service = asked.bundle ? 'the bundle' : 'the sources';
  return { ...own, service, database: databaseOf(asked), revision: `${revisionOf(asked)}, Node ${process.version}` };
}

/** Without the password of DATABASE_URL, its user and its options. */
function databaseOf({ database, size }: Pick<RunArguments, 'database' | 'size'>): string {
  const url = process.env.DATABASE_URL;
  return url ? url.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '') : `${database}, ${size}`;
}

/** The commit of the sources, and whether they have changed since; a bundle may be older than they are. */
function revisionOf({ bundle }: Pick<RunArguments, 'bundle'>): string {
  const file = join(serviceDirectory, 'dist/main.js');
  if (bundle) return existsSync(file) ? `built ${statSync(file).mtime.toISOString()}` : 'unknown';
  const describe = ['describe', '--always', '--exclude=*', '--dirty= with changes'];
  const { stdout } = spawnSync('git', describe, { cwd: serviceDirectory, encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
}

/** Origins as lines, each once. */
export function originLines(runs: readonly { readonly origin: Origin }[]): string[] {
  return [...new Set(runs.map(({ origin }) => originLine(origin)))];
}

function originLine({ machine, service, database, version, revision, k6 }: Origin): string {
  const known = (text: string, before = '') => (text === 'unknown' ? [] : [`${before}${text}`]);
  const made = [...known(version, 'version '), ...known(revision)].join(', ');
  const what = [service, ...(made ? [`(${made})`] : []), ...known(database, 'on ')].join(' ');
  return [what, [...known(k6, 'k6 '), ...known(machine, 'on ')].join(' ')].filter(Boolean).join('; ');
}
