import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { AppConfig } from '../../config/app-config.ts';
import { Configuration, envFile, type SettingSource, type Variables } from '../../config/environment.ts';
import { importFile, sourceExtension, sourcesDirectory } from '../../config/layout.ts';
import { shown } from '../../lifecycle/start-up-report.ts';
import { terminalTable } from '../terminal.ts';

/**
 * Shows every setting with its value, where that came from, and its default; secrets are masked. `--changed` shows only
 * those that are set, `--json` is for programs.
 *
 * @throws ConfigurationError with all problems
 */
export async function config(args: string[], env: Variables): Promise<void> {
  const options = { json: { type: 'boolean' }, changed: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options, args });
  const { appConfig } = await importFile(join(sourcesDirectory, `app.config${sourceExtension}`));
  const { moduleSettings } = appConfig(env) as AppConfig;
  const configuration = new Configuration(env, moduleSettings);
  const lines = configuration.all
    .filter(({ from }) => !values.changed || from !== 'default')
    .map((setting) => ({
      ...{ name: setting.name, value: shown(setting), from: placeOf(setting, env) },
      default: defaultOf(setting, configuration),
    }));
  if (values.json) return console.log(JSON.stringify(lines, undefined, 2));
  console.log(
    terminalTable(
      ['name', 'value', 'from', 'default'],
      lines.map(({ name, value, from, default: fallback }) => [name, textOf(value), from, textOf(fallback)]),
    ),
  );
  for (const { name, meant } of configuration.misspelt)
    console.log(`${name} is not a setting; ${meant} was probably meant.`);
}

/** What both the environment and `.env` say alike counts as said by the file. */
function placeOf({ name, from }: SettingSource, env: Variables): string {
  return from === 'environment' && envFile()[name] === env[name] ? '.env' : from;
}

/** That of a setting which nothing says is its value: another one made at random would not be it. */
function defaultOf({ name, value, from }: SettingSource, configuration: Configuration): unknown {
  return from === 'default' ? value : configuration.defaultOf(name);
}

function textOf(value: unknown): string {
  if (value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
