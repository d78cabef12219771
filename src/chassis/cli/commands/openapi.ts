import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Variables } from '../../config/environment.ts';
import { apiInfo } from '../../loaders/load-open-api.ts';
import { routersOn } from '../../loaders/mounted-routers.ts';
import { describeApi } from '../../openapi/describe-api.ts';
import { withLoadedService } from '../loaded-service.ts';
import { breakingChanges } from '../openapi/breaking-changes.ts';
import { confirm } from '../terminal.ts';

const options = {
  file: { type: 'string', default: 'openapi.json' },
  check: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

/**
 * Writes the API document of the service. `--check` writes nothing and compares it with the one that is there.
 *
 * @throws Error with what would break clients of the document that is there, where there is none to compare with, and
 * where another file has its place
 */
export async function openapi(args: string[], env: Variables): Promise<void> {
  const { file, check, json } = parseArgs({ options, args }).values;
  if (check && !existsSync(file))
    throw new Error(`Expected the document at ${file}, found nothing; write it: slipway openapi.`);
  if (!check) await keepOthers(file);
  const document = await withLoadedService(
    env,
    ({ app, settings }) => describeApi(routersOn(app), apiInfo(settings)).document,
  );
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (!check) {
    writeFileSync(file, text);
    return console.log(`${file} is written.`);
  }
  const before = readFileSync(file, 'utf8');
  const changes = breakingChanges(JSON.parse(before), JSON.parse(text));
  if (json) console.log(JSON.stringify(changes, undefined, 2));
  if (changes.length === 0) {
    if (!json)
      console.log(
        before === text
          ? 'The API has not changed.'
          : 'The API has changed, and breaks no client. Write it: slipway openapi.',
      );
    return;
  }
  const lines = changes.map(({ where, what }) => `  ${where} ${what}`);
  throw new Error(`Clients of ${file} would break:\n${lines.join('\n')}`);
}

/** @throws Error where a file is no API document, and nobody on the terminal wants it overwritten */
async function keepOthers(file: string): Promise<void> {
  if (!existsSync(file) || isApiDocument(readFileSync(file, 'utf8')) || (await confirm(`Overwrite ${file}?`))) return;
  throw new Error(`Expected an API document at ${file}, found another file. Nothing is changed.`);
}

function isApiDocument(text: string): boolean {
  try {
    return typeof JSON.parse(text)?.openapi === 'string';
  } catch {
    return false;
  }
}
