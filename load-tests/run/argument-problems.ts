import { catalogue, scenarioNames } from '../lib/catalogue.ts';
import { durationWords, secondsOf } from '../lib/duration.ts';
import { profiles } from '../lib/profiles.ts';

/** Every option of the command line. */
export const options = {
  help: { type: 'boolean', short: 'h' },
  resource: { type: 'string', multiple: true },
  target: { type: 'string' },
  database: { type: 'string' },
  size: { type: 'string' },
  bundle: { type: 'boolean' },
  'every-scenario': { type: 'boolean' },
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

type Option = keyof typeof options;
type Values = Readonly<Partial<Record<Option, string | boolean | readonly string[]>>>;

/** The options that each command takes. */
const taken: Readonly<Record<'run' | 'compare' | 'report' | 'manifest', readonly Option[]>> = {
  run: [
    ...(['resource', 'target', 'database', 'size', 'bundle', 'rate', 'duration'] as const),
    ...(['every-scenario', 'base', 'save-base', 'tolerance', 'out', 'prometheus'] as const),
  ],
  compare: ['tolerance'],
  report: ['out'],
  manifest: ['resource', 'target', 'rate', 'duration', 'kind', 'image'],
};

/** What is of a service that is started here. */
const ofStarted = ['database', 'size', 'bundle'] as const;

/** What an option has to be, and how its refusal says so; any other text has to be one. */
const expected: Readonly<Partial<Record<Option, readonly [words: string, test: (value: string) => boolean]>>> = {
  resource: ['names of lists with commas between them, or all', (value) => !value.split(',').includes('')],
  target: ['an address such as http://localhost:3000', isAddress],
  prometheus: ['an address such as http://localhost:9090/api/v1/write', isAddress],
  database: ['postgresql or sqlite', (value) => ['postgresql', 'sqlite'].includes(value)],
  size: ['small or full', (value) => ['small', 'full'].includes(value)],
  kind: ['testrun or job', (value) => ['testrun', 'job'].includes(value)],
  rate: ['a whole number from 1', (value) => /^[1-9]\d*$/.test(value)],
  duration: [durationWords, (value) => secondsOf(value) !== undefined],
  tolerance: ['a number above 1, such as 1.3', (value) => Number(value) > 1 && Number.isFinite(Number(value))],
};

/** What is wrong with a command, a sentence each. `words` are those behind its name, or the scenarios and profile of a run. */
export function problemsOf(
  command: keyof typeof taken,
  words: readonly string[],
  values: Values,
  env: NodeJS.ProcessEnv,
): string[] {
  return [
    ...wordProblems(command, words),
    ...valueProblems(command, values),
    ...(command === 'run' ? serviceProblems(values, env) : []),
    ...(command === 'manifest' ? manifestProblems(values) : []),
  ];
}

function isAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

function valueProblems(command: keyof typeof taken, values: Values): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (!taken[command].includes(name as Option)) {
      return [`--${name} says nothing to ${command === 'run' ? 'a run' : command}; leave it out.`];
    }
    const [words, test] = expected[name as Option] ?? ['a text', Boolean];
    const wrong = [value].flat().filter((one): one is string => typeof one === 'string' && !test(one));
    return wrong.map((one) => `Expected --${name} to be ${words}; got "${one}".`);
  });
}

/** What is of a service that is started here says nothing of one that runs already, nor the database beside that of DATABASE_URL. */
function serviceProblems(values: Values, { DATABASE_URL }: NodeJS.ProcessEnv): string[] {
  if (values.target !== undefined) {
    const named = ofStarted.filter((name) => values[name] !== undefined);
    return named.map((name) => `--${name} is of a service that is started here; --target, or BASE_URL, names another.`);
  }
  return DATABASE_URL && values.database !== undefined
    ? ['--database is of a database that is made here; DATABASE_URL names another.']
    : [];
}

function manifestProblems({ target, resource }: Values): string[] {
  const lists = [resource ?? []].flat().flatMap((names) => String(names).split(','));
  return [
    ...(target === undefined
      ? ['Expected --target, the address of the service in the cluster, such as http://slipway.']
      : []),
    ...(lists.length > 1 || lists[0] === 'all'
      ? [`Expected one list behind --resource, because a manifest is of one; got "${lists.join(',')}".`]
      : []),
  ];
}

function wordProblems(command: keyof typeof taken, words: readonly string[]): string[] {
  const [first = '', profile, ...more] = words;
  if (command === 'report') {
    return words.length === 0 ? [] : [`Expected nothing behind report, which reads a log; got "${words.join(' ')}".`];
  }
  if (command === 'compare') {
    return words.length === 2
      ? []
      : ['Expected compare to be followed by two runs: folders, report.json files, last, previous or base.'];
  }
  const isKnown = (name: string) => Object.hasOwn(catalogue, name);
  const unknown =
    command === 'manifest'
      ? [first].filter((name) => !isKnown(name))
      : first.split(',').filter((name) => first !== 'all' && !isKnown(name));
  const kinds = command === 'manifest' ? 'one scenario behind manifest, of' : 'a scenario, one of all,';
  return [
    ...unknown.map((name) => `Expected ${kinds} ${scenarioNames.join(', ')}; got "${name}".`),
    ...(profile === undefined || Object.hasOwn(profiles, profile)
      ? []
      : [`Expected a profile, one of ${Object.keys(profiles).join(', ')}; got "${profile}".`]),
    ...(more.length === 0 ? [] : [`Expected a scenario and a profile; got "${more.join(' ')}" as well.`]),
  ];
}
