import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type ApiDocument, apiFile, apiFileHeading } from '../client/api-file.ts';
import { readDocument } from '../client/read-document.ts';
import { writeFiles } from '../file-changes.ts';
import { confirm, UsageError } from '../terminal.ts';

const options = {
  name: { type: 'string' },
  module: { type: 'string' },
  force: { type: 'boolean', default: false },
} as const;

/**
 * Makes a typed client of another service: the types of its API, made anew by each run, and a client that is the service's
 * own from then on.
 *
 * @throws UsageError for what cannot be made, Error with what is wrong with the document
 */
export async function client(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ options, args, allowPositionals: true });
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    throw new UsageError(`Expected one URL or file of an OpenAPI document, got ${positionals.join(' ') || 'none'}.`);
  }
  const document = await readDocument(source);
  const name = values.name ?? nameOf(document, source);
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new UsageError(`Expected --name of lower-case letters, digits and "-", got "${name}".`);
  const folder = folderOf(values.module);
  const types = join(folder, `${name}.api.ts`);
  await keepOthers(types, values.force);
  writeFiles(process.cwd(), { [types]: apiFile(document) });
  const own = join(folder, `${name}.client.ts`);
  if (!existsSync(own)) writeFiles(process.cwd(), { [own]: clientFile(name) });
  console.log(
    `${types}\n${own}\n\nDeclare ${variableOf(name)} in the settings of a module:\n  ${variableOf(name)}: z.url().describe('Where ${name} is'),`,
  );
}

function folderOf(module?: string): string {
  if (module === undefined) return 'src/clients';
  const folder = `src/modules/${module}`;
  if (!existsSync(folder)) throw new UsageError(`Expected a module for --module, found no ${folder}.`);
  return folder;
}

/** @throws Error where a person wrote the file, who does not want it overwritten */
async function keepOthers(file: string, force: boolean): Promise<void> {
  const isOwn = existsSync(file) && !readFileSync(file, 'utf8').startsWith(apiFileHeading);
  if (isOwn && !force && !(await confirm(`Overwrite ${file}?`))) {
    throw new Error(
      `Expected a file of "slipway client", found another at ${file}. Nothing is changed; --force overwrites it.`,
    );
  }
}

/** By the title of the API, or by the name of its file. */
function nameOf({ info }: ApiDocument, source: string): string {
  const text = info?.title ?? basename(source, extname(source));
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function variableOf(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_URL`;
}

function clientFile(name: string): string {
  const camel = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `import { httpClient } from 'slipway';
import type { paths } from './${name}.api.ts';

export const ${camel} = httpClient<paths>('${name}', { url: '${variableOf(name)}', timeoutMs: 2000, retries: 2 });
`;
}
