import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { chassisSettings, derivedDefaults } from './chassis-settings.ts';
import { type MisspeltVariable, misspeltVariables } from './misspelt-variables.ts';
import { readSettingFile } from './read-setting-file.ts';
import { settingContradictions } from './settings/contradictions.ts';
import { hasDatabase } from './settings/database-url-problem.ts';

/** Variables by name, as `process.env` holds them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The settings of a service: the chassis' own and those that modules added. */
export type Environment = z.infer<typeof environmentSchema> & Slipway.Settings;

/** Where the value of a setting came from, for the start-up report; secret values are redacted. */
export interface SettingSource {
  name: string;
  value: unknown;
  from: 'environment' | 'file' | 'default';
}

/** What a ConfigurationError says beside the problems. */
interface ConfigurationHints {
  /** Variables that are probably misspelt. Default: none. */
  misspelt?: readonly MisspeltVariable[];
  /** Whether the log is for people, as in development. Default: false. */
  forPeople?: boolean;
}

/** An invalid configuration; the message lists every problem at once. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];
  /** Whether the log is for people, as in development. */
  readonly forPeople: boolean;

  constructor(problems: readonly string[], { misspelt = [], forPeople = false }: ConfigurationHints = {}) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n` +
        `${problems.map((problem) => `  - ${problem}`).join('\n')}\n` +
        misspelt.map(({ name, meant }) => `${name} is not a setting; ${meant} was probably meant.\n`).join('') +
        'Set the variables named above and start again.',
    );
    this.problems = problems;
    this.forPeople = forPeople;
  }
}

/** The one schema of all chassis settings. */
export const environmentSchema = z.object(chassisSettings);

/**
 * The variables with those of a file `.env` in the working directory added, where there is one; those that are set stay.
 * Nothing is changed but what is returned.
 */
export function withEnvFile(variables: Variables): Variables {
  return { ...envFile(), ...variables };
}

/** The variables of a file `.env` in the working directory; none where there is no such file. */
export function envFile(): Variables {
  return existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
}

/**
 * Reads every setting. An empty variable counts as unset, except NODE_ENV, where it is a problem; `NAME_FILE` reads the
 * value of `NAME` from a file of at most 64 KB, without its last line break.
 *
 * @param moduleSettings zod types of the settings that modules add, by variable name
 * @param reader a command does without the settings that only a service with lists needs in production
 * @throws ConfigurationError with all problems
 */
export function readEnvironment(
  moduleSettings: z.ZodRawShape,
  variables: Variables,
  reader: Reader = 'service',
): Environment {
  return readSettings(moduleSettings, variables, reader).settings;
}

type Reader = 'service' | 'command';

/** The settings of one service, and where each came from. */
export class Configuration {
  readonly #variables: Variables;
  #moduleSettings: z.ZodRawShape;
  #read: ReadSettings;

  /**
   * Reads every setting, as `readEnvironment` does.
   *
   * @throws ConfigurationError with all problems
   */
  constructor(variables: Variables, moduleSettings: z.ZodRawShape = {}) {
    this.#variables = variables;
    this.#moduleSettings = moduleSettings;
    this.#read = readSettings(moduleSettings, variables, 'service');
  }

  get settings(): Environment {
    return this.#read.settings;
  }

  /** The variables that it was made with; for a library that reads more of them than there are settings. */
  get variables(): Variables {
    return this.#variables;
  }

  /** Where each setting came from, in the order of the schema. */
  get sources(): readonly SettingSource[] {
    return this.#read.sources;
  }

  /** Every setting there is, in the order of the schema, also those that have no value. */
  get all(): readonly SettingSource[] {
    const sources = new Map(this.#read.sources.map((source) => [source.name, source]));
    const names = Object.keys({ ...chassisSettings, ...this.#moduleSettings });
    return names.map((name) => sources.get(name) ?? { name, value: undefined, from: 'default' });
  }

  /**
   * What a setting is where nothing says it, with the other variables as they are; undefined where it is nothing then.
   * That of a secret is masked, unless it stands in the sources.
   */
  defaultOf(name: string): unknown {
    const schema = environmentSchema.extend(this.#moduleSettings);
    const { raw } = collect(Object.keys(schema.shape), { ...this.#variables, [name]: '', [`${name}_FILE`]: '' }, []);
    const { success, data } = z.safeParse(schema.shape[name] as z.ZodType, derivedDefaults[name]?.(raw));
    if (!success || data === undefined) return undefined;
    return isSecret(schema, name) && !isPublicDefault(schema, name, new Set()) ? '[redacted]' : data;
  }

  /** Variables whose names are probably those of settings, misspelt. */
  get misspelt(): readonly MisspeltVariable[] {
    return misspeltVariables(this.#variables, [...Object.keys(chassisSettings), ...Object.keys(this.#moduleSettings)]);
  }

  /**
   * Adds the settings of a module that were not read with the others.
   *
   * @throws ConfigurationError with all problems
   */
  add(moduleSettings: z.ZodRawShape): void {
    if (Object.keys(moduleSettings).every((name) => name in this.#moduleSettings)) return;
    const all = { ...this.#moduleSettings, ...moduleSettings };
    const { settings, sources } = readSettings(all, this.#variables, 'service');
    // Those who hold the settings see what is added; what they have read, a default made at random too, stays.
    this.#read = { settings: Object.assign(this.#read.settings, { ...settings, ...this.#read.settings }), sources };
    this.#moduleSettings = all;
  }
}

interface ReadSettings {
  settings: Environment;
  sources: SettingSource[];
}

function readSettings(moduleSettings: z.ZodRawShape, variables: Variables, reader: Reader): ReadSettings {
  const problems: string[] = [];
  const schema = environmentSchema.extend(moduleSettings);
  const { raw, files } = collect(Object.keys(schema.shape), variables, problems);
  const given = new Set(Object.keys(raw));
  for (const [name, derive] of Object.entries(derivedDefaults)) raw[name] ??= derive(raw);
  // Read once, settings take less time than zod needs to compile how to read them often.
  const parsed = schema.safeParse(raw, { jitless: true });
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0] ?? 'the configuration');
    problems.push(`${name}: ${issue.message}${foundText(schema, name, raw[name])}`);
  }
  if (parsed.success) problems.push(...settingContradictions(parsed.data as unknown as Environment));
  const hasLists = reader === 'service' && hasDatabase(raw.DATABASE_URL ?? '');
  if (raw.NODE_ENV === 'production') problems.push(...missingInProduction(schema, given, hasLists));
  if (problems.length > 0 || !parsed.success) {
    const misspelt = misspeltVariables(variables, Object.keys(schema.shape));
    throw new ConfigurationError(problems, { misspelt, forPeople: raw.LOG_FORMAT === 'pretty' });
  }
  const sources = Object.entries(parsed.data)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      name,
      value: isSecret(schema, name) && !isPublicDefault(schema, name, given) ? '[redacted]' : value,
      from: files.has(name) ? ('file' as const) : given.has(name) ? ('environment' as const) : ('default' as const),
    }));
  return { settings: parsed.data as unknown as Environment, sources };
}

function collect(names: string[], variables: Variables, problems: string[]) {
  const raw: Record<string, string> = {};
  const files = new Set<string>();
  for (const name of names) {
    // To take it for unset would switch to development what was to run in production.
    const value = name === 'NODE_ENV' ? variables[name] : variables[name] || undefined;
    const file = variables[`${name}_FILE`] || undefined;
    if (value !== undefined && file !== undefined)
      problems.push(`${name}: set both by ${name} and by ${name}_FILE; keep one`);
    if (value !== undefined) raw[name] = value;
    else if (file !== undefined) {
      try {
        raw[name] = readSettingFile(file);
        files.add(name);
      } catch (error) {
        problems.push(
          `${name}_FILE: cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`,
        );
      }
    }
  }
  return { raw, files };
}

function missingInProduction(schema: z.ZodObject, given: ReadonlySet<string>, hasLists: boolean): string[] {
  const isRequired = (required: unknown) => required === true || (required === 'of lists' && hasLists);
  return Object.keys(schema.shape)
    .filter((name) => isRequired(meta(schema, name).requiredInProduction) && !given.has(name))
    .map((name) => `${name}: expected a value, because NODE_ENV is production; found none`);
}

/** What a URL should not have held is not repeated. */
function foundText(schema: z.ZodObject, name: string, value: string | undefined): string {
  if (value === undefined) return '; found none';
  if (isSecret(schema, name)) return '';
  const shown = value.replace(/\/\/[^/\s]*@/g, '//[redacted]@').replace(/=[^\s,;&]+/g, '=[redacted]');
  return `; found ${JSON.stringify(shown)}`;
}

function meta(schema: z.ZodObject, name: string): Record<string, unknown> {
  return (schema.shape[name] as z.ZodType | undefined)?.meta() ?? {};
}

/** A constant default; others are made at each start. */
function isPublicDefault(schema: z.ZodObject, name: string, given: ReadonlySet<string>): boolean {
  return meta(schema, name).publicDefault === true && !given.has(name);
}

function isSecret(schema: z.ZodObject, name: string): boolean {
  return meta(schema, name).secret === true;
}
