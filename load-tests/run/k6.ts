import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { RunSummary } from '../lib/run-summary.ts';
import { setupEnd } from '../lib/summary-mark.ts';
import type { Difference } from './compare-runs.ts';
import { highestHeld } from './highest-held.ts';
import { scenarioFile, serviceDirectory } from './places.ts';
import { quiet, type ScenarioRun, variablesOf } from './scenario-run.ts';
import { readSeries, type Second } from './series.ts';

/** One run of k6, as it is started. */
export interface K6Run extends ScenarioRun {
  /** Credentials and the like, as `NAME: value`. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Where to send metrics by Prometheus remote write. */
  readonly prometheus: string | undefined;
}

/** What a run measured, as a whole and second by second. */
export interface MeasuredRun extends RunSummary {
  series: Second[];
  /** What a service that was started for the run used; on Linux. */
  used?: Usage;
  /** How it differs from the base, where that has one like it. */
  differences?: readonly Difference[];
  /** Why it does not stand beside the base. */
  note?: string;
}

/** CPU of one request in milliseconds, of the service and of its database, and the memory of the service in MiB. */
export interface Usage {
  readonly service: number;
  readonly database: number;
  readonly memory: number;
}

/** Finds k6: on PATH, where scripts/tools.sh puts it, or beside a local cluster. Raises an error that says how to get it. */
export function findK6(): string {
  const cluster = process.env.KUBE_CACHE ?? join(homedir(), '.cache/local-kube');
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    join(serviceDirectory, '.cache/tools/bin'),
    join(cluster, 'bin'),
  ];
  const found = folders.map((folder) => join(folder, 'k6')).find(isExecutable);
  if (found) return found;
  throw new Error(
    'Expected k6 2 on PATH or in .cache/tools/bin, found none. See https://grafana.com/docs/k6/latest/set-up/install-k6/; in the repository of Slipway `scripts/tools.sh k6` brings it, with Go.',
  );
}

/** A run of k6 that ended without a summary: aborted, killed or never begun. */
export class Unmeasured extends Error {}

/** A list whose records have nothing for a scenario. */
export class NothingToDo extends Unmeasured {}

/** A list without records. */
export class EmptyList extends NothingToDo {}

/** How the setup of a scenario says so. */
const emptyList = /Target refused: (\S+ has no records)\b/;
const nothingToDo = /Target refused: (no (?:filter|word) made of the records of [^"\\]*)/;

/**
 * Runs one scenario.
 *
 * @param running is told of the process of k6
 * @param begun is called when the setup is over and the scenario begins
 * @throws NothingToDo where the list has nothing for the scenario, Unmeasured where k6 measured nothing for another reason
 */
export async function runK6(
  k6: string,
  run: K6Run,
  running: (child: ChildProcess) => void,
  begun: () => void = () => undefined,
): Promise<MeasuredRun> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-load-'));
  try {
    const [summary, recording] = [join(folder, 'summary.json'), join(folder, 'seconds.ndjson')];
    const { ended, said } = await spawnK6(k6, run, { summary, recording }, { running, begun });
    if (!existsSync(summary)) {
      const [, empty] = emptyList.exec(said) ?? [];
      if (empty) throw new EmptyList(empty);
      const [, nothing] = nothingToDo.exec(said) ?? [];
      if (nothing) throw new NothingToDo(nothing);
      throw new Unmeasured(`k6 ended with ${ended} and measured nothing in ${run.scenario}; it says why on stderr.`);
    }
    const measured = JSON.parse(readFileSync(summary, 'utf8')) as RunSummary;
    const series = readSeries(recording, run.scenario);
    return { ...measured, ...(run.profile === 'breakpoint' && { held: highestHeld(series) }), series };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function spawnK6(
  k6: string,
  run: K6Run,
  { summary, recording }: { summary: string; recording: string },
  { running, begun }: { running: (child: ChildProcess) => void; begun: () => void },
): Promise<{ ended: number | string | null; said: string }> {
  const { scenario, profile, variables, prometheus } = run;
  const child = spawn(
    k6,
    [
      ...['run', '--quiet', '--tag', `testid=${scenario}-${profile}`],
      ...(prometheus ? ['-o', 'experimental-prometheus-rw'] : []),
      scenarioFile(scenario),
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...quiet,
        ...variables,
        ...variablesOf(run),
        SUMMARY_FILE: summary,
        ...{ K6_WEB_DASHBOARD: 'true', K6_WEB_DASHBOARD_PORT: '-1', K6_WEB_DASHBOARD_PERIOD: '1s' },
        // Tells the requests of the scenario from those of its setup.
        ...{ K6_WEB_DASHBOARD_RECORD: recording, K6_WEB_DASHBOARD_TAGS: 'scenario' },
        ...(prometheus && remoteWrite(prometheus)),
      },
    },
  );
  running(child);
  let said = '';
  createInterface(child.stderr).on('line', (line) => {
    if (line.includes(setupEnd)) return begun();
    // The table says it; beside a base the times of a scenario do not count.
    if (line.includes('thresholds on metrics')) return;
    console.error(line);
    said = `${said}${line}\n`.slice(-10_000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve({ ended: signal ?? code, said }));
  });
}

function remoteWrite(url: string) {
  return {
    K6_PROMETHEUS_RW_SERVER_URL: url,
    K6_PROMETHEUS_RW_TREND_STATS: 'p(50),p(95),p(99),max',
    K6_PROMETHEUS_RW_PUSH_INTERVAL: '2s',
    K6_PROMETHEUS_RW_STALE_MARKERS: 'true',
  };
}

/** Has k6 read a scenario under a profile, before anything is started for it. Raises an error with what k6 says. */
export async function refuseUnfitRun(k6: string, scenario: string, profile: string): Promise<void> {
  await promisify(execFile)(k6, ['inspect', '-e', `PROFILE=${profile}`, scenarioFile(scenario)], {
    env: { ...process.env, ...quiet },
  }).catch((cause) => {
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
