import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { AppConfig } from '../../config/app-config.ts';
import { Configuration, type Variables } from '../../config/environment.ts';
import { sourceExtension, sourcesDirectory } from '../../config/layout.ts';
import { terminalTable } from '../terminal.ts';

/**
 * Shows every setting with its value and where that came from; secrets are masked. `--changed` leaves defaults out,
 * `--json` is for programs.
 *
 * @throws ConfigurationError with all problems
 */
export async function config(args: string[], env: Variables): Promise<void> {
  const options = { json: { type: 'boolean' }, changed: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options, args });
  const { appConfig } = await import(pathToFileURL(join(sourcesDirectory, `app.config${sourceExtension}`)).href);
  const { moduleSettings } = appConfig(env) as AppConfig;
  const configuration = new Configuration(env, moduleSettings);
  const shown = configuration.sources.filter(({ from }) => !values.changed || from !== 'default');
  if (values.json) return console.log(JSON.stringify(shown, undefined, 2));
  console.log(
    terminalTable(
      ['name', 'value', 'from'],
      shown.map(({ name, value, from }) => [name, textOf(value), from]),
    ),
  );
  for (const { name, meant } of configuration.misspelt)
    console.log(`${name} is not a setting; ${meant} was probably meant.`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
