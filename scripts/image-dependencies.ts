/**
 * Leaves in node_modules only what the service needs in production beside its bundle, for the image. What goes:
 * - packages that nothing in "dependencies" needs: development tools, and what they satisfy of optional peers;
 * - of bundled packages all but the licence and the version, which scanners of images look for;
 * - of the rest, what `unused` names, each with its reason.
 * An entry of `unused` that matches nothing is an error, so the list cannot rot. Run in a copy: it deletes.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { unbundledPackages } from './unbundled-packages.ts';

interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** Packages by name, and files by path, that no code of a running service loads. */
const unused: { packages: [RegExp, string][]; files: [RegExp, string][] } = {
  packages: [
    [/^@types\//, 'types, for the compiler'],
    [/-musl$/, 'binaries for Alpine; both runtimes of the image have glibc'],
    [/^@sentry\/bundler-plugins$/, 'for builds with webpack, rollup, vite or esbuild; brings a command line program'],
  ],
  files: [
    [/\.map$/, 'source maps; the sources are not shipped'],
    [/\.d\.[cm]?ts$/, 'types, for the compiler'],
    [/\.(md|markdown)$/i, 'documentation; licences are no Markdown, or named LICENSE'],
    [/^swagger-ui-dist\/swagger-ui(-es-bundle.*)?\.js$/, 'builds of the API page that it does not load'],
  ],
};

/** What stays of a bundled package. */
const notice = /^package\.json$|licen[cs]e|copying|notice/i;
const root = process.argv[2] ?? process.cwd();
const locked: Record<string, LockedPackage> = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
).packages;
const matched = new Set<RegExp>();

/** Places in node_modules of these packages and of everything that they need, of what is installed. */
function neededBy(names: readonly string[]): Set<string> {
  const needed = new Set<string>();
  const pending = names.map((name) => ({ from: '', name }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const place = resolve(next.from, next.name);
    if (!place || needed.has(place) || matches(unused.packages, next.name)) continue;
    needed.add(place);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[place] ?? {};
    const peers = Object.entries(peerDependencies ?? {}).filter(([name]) => !peerDependenciesMeta?.[name]?.optional);
    const all = { ...dependencies, ...optionalDependencies, ...Object.fromEntries(peers) };
    pending.push(...Object.keys(all).map((needs) => ({ from: place, name: needs })));
  }
  return needed;
}

/** Where Node finds a package: in the nearest node_modules at or above `from` that has it. */
function resolve(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(root, place))) return place;
    if (folder === '') return undefined;
  }
}

function matches(rules: [RegExp, string][], text: string): boolean {
  const rule = rules.find(([pattern]) => pattern.test(text));
  if (rule) matched.add(rule[0]);
  return rule !== undefined;
}

/** Deletes what is not needed of a package, and returns how many bytes stay. Its own node_modules are other packages. */
function trim(place: string, folder = place): number {
  let bytes = 0;
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    const inPackages = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const goes = unbundled.has(place) ? matches(unused.files, inPackages) : !notice.test(path.slice(place.length + 1));
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : trim(place, path);
    else if (goes) rmSync(join(root, path));
    else bytes += statSync(join(root, path)).size;
  }
  if (readdirSync(join(root, folder)).length === 0) rmdirSync(join(root, folder));
  return bytes;
}

const needed = neededBy(Object.keys(locked['']?.dependencies ?? {}));
const unbundled = neededBy(unbundledPackages);
const installed = Object.keys(locked).filter((place) => place !== '' && existsSync(join(root, place)));
// A package that holds a needed one in its own node_modules stays with it.
for (const place of installed) {
  const holdsNeeded = [...needed].some((other) => other.startsWith(`${place}/`));
  if (!needed.has(place) && !holdsNeeded) rmSync(join(root, place), { recursive: true, force: true });
}
rmSync(join(root, 'node_modules/.bin'), { recursive: true, force: true });
rmSync(join(root, 'node_modules/.package-lock.json'), { force: true });
const bytes = [...needed].reduce((sum, place) => sum + trim(place), 0);

const rotten = [...unused.packages, ...unused.files].filter(([pattern]) => !matched.has(pattern));
if (rotten.length > 0) {
  const lines = rotten.map(([pattern, reason]) => `${pattern} (${reason})`);
  throw new Error(`Expected every entry of "unused" to match something; remove or correct ${lines.join(', ')}.`);
}
console.log(`${needed.size} of ${installed.length} packages stay, ${(bytes / 1e6).toFixed(1)} MB`);
