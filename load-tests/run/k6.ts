import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { RunSummary } from '../lib/run-summary.ts';

const root = join(import.meta.dirname, '../..');

/** k6 neither reports its use nor looks for extensions elsewhere. */
const quiet = { ...process.env, K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' };

/** Names of the scenarios that there are. */
export const scenarios = readdirSync(join(root, 'load-tests/scenarios')).map((file) => file.replace(/\.ts$/, ''));

/** Finds k6: on PATH, where scripts/tools.sh puts it, or beside a local cluster. Raises an error that says how to get it. */
export function findK6(): string {
  const cluster = process.env.KUBE_CACHE ?? join(homedir(), '.cache/local-kube');
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(root, '.cache/tools/bin'), join(cluster, 'bin')];
  const found = folders.map((folder) => join(folder, 'k6')).find(isExecutable);
  if (found) return found;
  throw new Error(
    'Expected k6 2 on PATH or in .cache/tools/bin, found none. `scripts/tools.sh k6` brings it, with Go; or see https://grafana.com/docs/k6/latest/set-up/install-k6/.',
  );
}

/** Runs one scenario. `running` is told of the process, so that it can be ended from outside. */
export async function runK6(
  k6: string,
  run: { scenario: string; profile: string; target: string },
  running: (child: ChildProcess) => void,
): Promise<RunSummary> {
  const folder = join(root, '.cache/load');
  const file = join(folder, `${run.scenario}-${run.profile}.json`);
  mkdirSync(folder, { recursive: true });
  rmSync(file, { force: true });
  const { RATE, DURATION } = process.env;
  const variables = { PROFILE: run.profile, BASE_URL: run.target, SUMMARY_FILE: file, RATE, DURATION };
  const settings = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : ['-e', `${name}=${value}`],
  );
  const child = spawn(k6, ['run', '--quiet', ...settings, join(root, `load-tests/scenarios/${run.scenario}.ts`)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: quiet,
  });
  running(child);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as RunSummary;
  throw new Error(`k6 ended with ${code} and measured nothing in ${run.scenario}; its message stands above.`);
}

/** Has k6 read a scenario under a profile, before anything is started for it. Raises an error with what k6 says. */
export async function refuseUnfitRun(k6: string, scenario: string, profile: string): Promise<void> {
  const file = join(root, `load-tests/scenarios/${scenario}.ts`);
  await promisify(execFile)(k6, ['inspect', '-e', `PROFILE=${profile}`, file], { env: quiet }).catch((cause) => {
    const [, reason] = /msg="Error: (.*?)\\n/.exec(cause.stderr) ?? [];
    throw new Error(reason?.replaceAll('\\"', '"') ?? cause.message, { cause });
  });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
