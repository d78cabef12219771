import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { RunSummary } from '../../load-tests/lib/run-summary.ts';
import { root, tool } from '../chart/chart.ts';

/** How a run of k6 ended. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Credentials of the account that may do everything. */
export const admin = { LOAD_EMAIL: 'admin@example.com', LOAD_PASSWORD: 'slipway-demo-password' };

/** Settings with which a service refuses nothing to one client that sends as much as many do, on a machine busy with other tests. */
export const unlimited = { RATE_LIMIT_ENABLED: 'false', OVERLOAD_TARGET_MS: '10000' };

/** Runs a scenario with k6 as somebody without Node does, for a moment unless `variables` say otherwise. */
export async function runScenario(
  scenario: string,
  target: string,
  variables: Record<string, string> = {},
): Promise<Outcome> {
  const given = { RATE: '10', DURATION: '1s', ...variables, BASE_URL: target };
  const settings = Object.entries(given).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const env = { ...process.env, K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' };
  const file = join(root, `load-tests/scenarios/${scenario}.ts`);
  return promisify(execFile)(tool('k6') ?? '', ['run', '--quiet', ...settings, file], { env }).then(
    (ended) => ({ ...ended, code: 0 }),
    (failed: Outcome) => failed,
  );
}

/** What a run measured, and what k6 said of it. */
export interface Measured extends RunSummary {
  said: string;
}

/** Runs a scenario and gives what it measured; raises what k6 says where it measured nothing. */
export async function measureScenario(
  scenario: string,
  target: string,
  variables: Record<string, string> = {},
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-load-'));
  try {
    const file = join(folder, 'summary.json');
    const { stderr } = await runScenario(scenario, target, { ...variables, SUMMARY_FILE: file });
    try {
      return { ...(JSON.parse(readFileSync(file, 'utf8')) as RunSummary), said: stderr };
    } catch {
      throw new Error(stderr);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The checks of a run that failed, by name. */
export function failedChecks({ checks }: RunSummary): string[] {
  return checks.filter(({ fails }) => fails > 0).map(({ name }) => name);
}
