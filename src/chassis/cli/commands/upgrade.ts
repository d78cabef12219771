import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { orUndo, remove, writeFiles } from '../file-changes.ts';
import { installPackages } from '../service/install-packages.ts';
import { ownPackage, packageDirectory } from '../service/package-file.ts';
import { copyTarball, packageSource } from '../service/package-source.ts';
import { changesSince, isNewer } from '../upgrade/changes-since.ts';
import { codemods } from '../upgrade/codemods.ts';
import { upgradedPackageFile } from '../upgrade/upgraded-package-file.ts';

const options = { package: { type: 'string' }, install: { type: 'boolean', default: true } } as const;

/**
 * Brings the service of the working directory to the version of this program: its packages, what the version has to change
 * in its files, and tells what has changed. Where npm cannot install the packages, or a signal ends the program, the files
 * are as they were. The tarball that the service had before goes.
 *
 * @throws Error where there is no service, or one of a newer version
 */
export async function upgrade(args: string[]): Promise<void> {
  const { values } = parseArgs({ options, args, allowNegative: true });
  const root = process.cwd();
  const file = join(root, 'package.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}';
  const { name, dependencies } = JSON.parse(text) as { name: string; dependencies?: Record<string, string> };
  if (!dependencies?.['slipway']) throw new Error(`Expected a service that depends on slipway in ${root}, found none.`);
  const [installed, own] = [installedVersion(root), ownPackage().version];
  if (installed !== undefined && isNewer(installed, own)) {
    throw new Error(`Expected a version up to ${own}, which this program has; the service has ${installed}.`);
  }
  const source = packageSource(values.package);
  const service = { root, name, slipway: source.spec };
  const due = codemods.map((codemod) => ({ codemod, files: codemod.files(service) }));
  const files = Object.assign({}, ...due.map((one) => one.files), {
    'package.json': upgradedPackageFile(text, source.spec),
  }) as Record<string, string>;
  const tarball = source.tarball === undefined ? [] : [source.spec.slice('file:'.length)];
  const before = new Map([...Object.keys(files), ...tarball].map((path) => [path, read(join(root, path))]));
  await orUndo(
    async () => {
      copyTarball(source, root);
      writeFiles(root, files);
      if (values.install && !installPackages(root)) {
        throw new Error('npm could not install the packages of the new version; the files are as they were.');
      }
    },
    () => putBack(root, before),
  );
  if (dependencies['slipway'] !== source.spec) removeTarball(root, dependencies['slipway']);
  console.log(`${name} is on slipway ${own}; it was on ${installed ?? 'a version that is not installed'}.`);
  for (const { codemod, files: changed } of due) {
    if (Object.keys(changed).length > 0) console.log(`- ${codemod.what}: ${Object.keys(changed).join(', ')}`);
  }
  console.log(`\n${changesSince(readFileSync(join(packageDirectory, 'CHANGELOG.md'), 'utf8'), installed ?? '0.0.0')}`);
}

function read(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}

function installedVersion(root: string): string | undefined {
  const text = read(join(root, 'node_modules/slipway/package.json'));
  return text === undefined ? undefined : JSON.parse(text.toString()).version;
}

/** Where a service took the chassis from a tarball, it has a copy of its own. */
function removeTarball(root: string, spec: string): void {
  const path = /^file:(vendor\/slipway-[^/]+\.tgz)$/.exec(spec)?.[1];
  if (path !== undefined && existsSync(join(root, path))) remove(root, path);
}

function putBack(root: string, before: ReadonlyMap<string, Buffer | undefined>): void {
  for (const [path, content] of before) {
    if (content !== undefined) writeFileSync(join(root, path), content);
    else if (existsSync(join(root, path))) remove(root, path);
  }
}
