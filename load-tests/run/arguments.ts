import process from 'node:process';
import { parseArgs } from 'node:util';
import { catalogue, type ScenarioName } from '../lib/catalogue.ts';
import { type ProfileName, profiles } from '../lib/profiles.ts';
import type { ManifestArguments } from './manifest.ts';

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

const options = {
  help: { type: 'boolean', short: 'h' },
  resource: { type: 'string', multiple: true },
  target: { type: 'string' },
  database: { type: 'string' },
  size: { type: 'string' },
  bundle: { type: 'boolean' },
  rate: { type: 'string' },
  duration: { type: 'string' },
  base: { type: 'string' },
  'save-base': { type: 'boolean' },
  tolerance: { type: 'string' },
  out: { type: 'string' },
  prometheus: { type: 'string' },
  kind: { type: 'string' },
  image: { type: 'string' },
} as const;

/** How much slower a run may be than what it is compared with: 1.3 is 30 %. */
const defaultTolerance = 1.3;

/**
 * Reads the command line.
 *
 * @throws Error with every problem, a line each
 */
export function readArguments(args: string[], env: NodeJS.ProcessEnv = process.env): Asked {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [first, second, ...rest] = positionals;
  if (values.help || first === undefined || first === 'help') return { command: 'help' };
  const tolerance = Number(values.tolerance ?? defaultTolerance);
  if (first === 'report' && second === undefined) return { command: 'report', out: values.out };
  if (first === 'manifest') return { command: 'manifest', manifest: readManifest(positionals.slice(1), values) };
  const problems = [
    ...(tolerance > 1 ? [] : [`Expected --tolerance to be a number above 1, such as 1.3; got "${values.tolerance}".`]),
    ...(first === 'compare'
      ? compareProblems(positionals)
      : [...runProblems(first, second, rest), ...oneOfProblems(values)]),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  if (first === 'compare') return { command: 'compare', before: second ?? '', after: rest[0] ?? '', tolerance };
  const run: RunArguments = {
    scenarios: first === 'all' ? scenarioNames : (first.split(',') as ScenarioName[]),
    profile: (second ?? 'smoke') as ProfileName,
    resources: (values.resource ?? []).flatMap((names) => names.split(',')),
    target: values.target ?? env.BASE_URL,
    database: (values.database ?? 'postgresql') as RunArguments['database'],
    size: (values.size ?? 'full') as RunArguments['size'],
    bundle: values.bundle ?? false,
    rate: values.rate ?? env.RATE,
    duration: values.duration ?? env.DURATION,
    base: values.base ?? '.cache/load/base.json',
    saveBase: values['save-base'] ?? false,
    tolerance,
    out: values.out,
    prometheus: values.prometheus,
  };
  return { command: 'run', run };
}

type Values = Partial<Record<'resource' | 'target' | 'rate' | 'duration' | 'kind' | 'image', string | string[]>>;

function readManifest([scenario = '', profile, ...rest]: string[], values: Values): ManifestArguments {
  const { target, kind = 'testrun', image, rate, duration } = values as Record<string, string | undefined>;
  const problems = [
    ...(Object.hasOwn(catalogue, scenario) ? [] : [`Expected one scenario behind manifest; got "${scenario}".`]),
    ...runProblems('all', profile, rest),
    ...(target && URL.canParse(target)
      ? []
      : [
          `Expected --target to be the address of the service in the cluster, such as http://slipway; got "${target ?? ''}".`,
        ]),
    ...(kind === 'job' || kind === 'testrun' ? [] : [`Expected --kind to be testrun or job; got "${kind}".`]),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const [resource] = [values.resource ?? []].flat();
  return {
    ...{ scenario, profile: profile ?? 'smoke', target: target ?? '', resource, rate, duration },
    ...{ kind: kind as ManifestArguments['kind'], image },
  };
}

/** The names of all scenarios. */
export const scenarioNames = Object.keys(catalogue) as ScenarioName[];

function compareProblems({ length }: string[]): string[] {
  return length === 3
    ? []
    : ['Expected compare to be followed by two runs: folders, report.json files, last, previous or base.'];
}

/** Of scenarios with commas between them, or `all`. */
function runProblems(scenario: string, profile: string | undefined, rest: string[]): string[] {
  const unknown = scenario === 'all' ? [] : scenario.split(',').filter((name) => !Object.hasOwn(catalogue, name));
  return [
    ...unknown.map((name) => `Expected a scenario, one of all, ${scenarioNames.join(', ')}; got "${name}".`),
    ...(profile === undefined || Object.hasOwn(profiles, profile)
      ? []
      : [`Expected a profile, one of ${Object.keys(profiles).join(', ')}; got "${profile}".`]),
    ...(rest.length === 0 ? [] : [`Expected a scenario and a profile; got "${rest.join(' ')}" as well.`]),
  ];
}

function oneOfProblems(values: { database?: string; size?: string; target?: string; rate?: string }): string[] {
  const { database = 'postgresql', size = 'full', target, rate } = values;
  return [
    ...(['postgresql', 'sqlite'].includes(database)
      ? []
      : [`Expected --database to be postgresql or sqlite; got "${database}".`]),
    ...(['small', 'full'].includes(size) ? [] : [`Expected --size to be small or full; got "${size}".`]),
    ...(target === undefined || URL.canParse(target)
      ? []
      : [`Expected --target to be an address such as http://localhost:3000; got "${target}".`]),
    ...(rate === undefined || /^[1-9]\d*$/.test(rate)
      ? []
      : [`Expected --rate to be a whole number from 1; got "${rate}".`]),
  ];
}
