import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type ScenarioName, scenarioNames } from '../lib/catalogue.ts';
import type { ProfileName } from '../lib/profiles.ts';
import { options, problemsOf } from './argument-problems.ts';
import type { ManifestArguments } from './manifest.ts';
import { serviceDirectory } from './places.ts';

/** A run of scenarios, as it was asked for. */
export interface RunArguments {
  readonly scenarios: readonly ScenarioName[];
  readonly profile: ProfileName;
  /** Names or paths of lists, or `all`; none takes the one with the most records. */
  readonly resources: readonly string[];
  /** A service that runs already; none starts one. */
  readonly target: string | undefined;
  readonly database: 'postgresql' | 'sqlite';
  readonly size: 'small' | 'full';
  /** Whether the service that is started is what `npm run build` made. */
  readonly bundle: boolean;
  readonly rate: string | undefined;
  readonly duration: string | undefined;
  readonly base: string;
  /** Whether a scenario fails the run that was left out of every list. */
  readonly everyScenario: boolean;
  readonly saveBase: boolean;
  readonly tolerance: number;
  readonly out: string | undefined;
  readonly prometheus: string | undefined;
}

/** What the command line asks for. */
export type Asked =
  | { command: 'help' }
  | { command: 'compare'; before: string; after: string; tolerance: number }
  | { command: 'report'; out: string | undefined }
  | { command: 'manifest'; manifest: ManifestArguments }
  | { command: 'run'; run: RunArguments };

/** How much slower a run may be than what it is compared with: 1.3 is 30 %. */
const defaultTolerance = 1.3;
/** Where the base is kept. */
export const baseFile = join(serviceDirectory, '.cache/load/base.json');

/**
 * Reads the command line.
 *
 * @param env has BASE_URL, RATE and DURATION, each in place of its option, and DATABASE_URL
 * @throws Error with every problem, a line each
 */
export function readArguments(args: string[], env: NodeJS.ProcessEnv = process.env): Asked {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [first, ...rest] = positionals;
  if (values.help || first === undefined || first === 'help') return { command: 'help' };
  const command = first === 'compare' || first === 'report' || first === 'manifest' ? first : 'run';
  const given = command === 'run' ? { ...ofEnvironment(env), ...values } : values;
  const problems = problemsOf(command, command === 'run' ? positionals : rest, given, env);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const tolerance = Number(values.tolerance ?? defaultTolerance);
  if (command === 'compare') return { command, before: rest[0] ?? '', after: rest[1] ?? '', tolerance };
  if (command === 'report') return { command, out: values.out };
  const { rate, duration, target } = given;
  if (command === 'run') {
    return {
      command,
      run: {
        scenarios: first === 'all' ? scenarioNames : ([...new Set(first.split(','))] as ScenarioName[]),
        profile: (rest[0] ?? 'smoke') as ProfileName,
        resources: (values.resource ?? []).flatMap((names) => names.split(',')),
        ...{ target, rate, duration, tolerance, out: values.out, prometheus: values.prometheus },
        database: (values.database ?? 'postgresql') as RunArguments['database'],
        size: (values.size ?? 'full') as RunArguments['size'],
        everyScenario: values['every-scenario'] ?? false,
        ...{ bundle: values.bundle ?? false, base: values.base ?? baseFile, saveBase: values['save-base'] ?? false },
      },
    };
  }
  const [scenario = '', profile = 'smoke'] = rest;
  const kind = (values.kind ?? 'testrun') as ManifestArguments['kind'];
  const [resource] = values.resource ?? [];
  return {
    command,
    manifest: { ...{ scenario, profile, target: target ?? '', resource, rate, duration }, kind, image: values.image },
  };
}

/** Older ways to say the same, for scripts. */
function ofEnvironment({ BASE_URL, RATE, DURATION }: NodeJS.ProcessEnv) {
  return {
    ...(BASE_URL && { target: BASE_URL }),
    ...(RATE && { rate: RATE }),
    ...(DURATION && { duration: DURATION }),
  };
}
