import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unbundledPackages } from './unbundled-packages.ts';

interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** What a service needs of node_modules in production beside its bundle. */
export interface ImagePackages {
  /** Paths below the service. */
  readonly files: readonly string[];
  readonly bytes: number;
  /** How many packages stay, of those that are installed. */
  readonly packages: number;
  readonly installed: number;
  /** Entries of `unused` that matched nothing. */
  readonly unmatched: readonly string[];
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

/** What stays of a bundled package: scanners of images and lawyers look for it. */
const notice = /^package\.json$|licen[cs]e|copying|notice/i;

/**
 * Finds what an image needs of the packages of a service, of which development tools are a part: of those that the bundle
 * does not hold all but what `unused` names, of the others the licence and the version.
 *
 * @param root absolute path of the service, with package-lock.json and node_modules
 */
export function imagePackages(root: string): ImagePackages {
  const locked: Record<string, LockedPackage> = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  ).packages;
  const matched = new Set<RegExp>();
  const needed = neededBy(root, locked, Object.keys(locked['']?.dependencies ?? {}), matched);
  const unbundled = neededBy(root, locked, unbundledPackages(root), matched);
  const files = [...needed].flatMap((place) => filesOf(root, place, unbundled.has(place), matched));
  const installed = Object.keys(locked).filter((place) => place !== '' && existsSync(join(root, place)));
  return {
    files,
    bytes: files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0),
    packages: needed.size,
    installed: installed.length,
    unmatched: [...unused.packages, ...unused.files]
      .filter(([pattern]) => !matched.has(pattern))
      .map(([pattern, reason]) => `${pattern} (${reason})`),
  };
}

/** Copies them, into the same places below another directory. */
export function copyPackages({ files }: ImagePackages, root: string, target: string): void {
  for (const file of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}

/** Places in node_modules of these packages and of everything that they need, of what is installed. */
function neededBy(
  root: string,
  locked: Readonly<Record<string, LockedPackage>>,
  names: readonly string[],
  matched: Set<RegExp>,
): Set<string> {
  const needed = new Set<string>();
  const pending = names.map((name) => ({ from: '', name }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const place = placeOf(root, next.from, next.name);
    if (!place || needed.has(place) || matches(unused.packages, next.name, matched)) continue;
    needed.add(place);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[place] ?? {};
    const peers = Object.entries(peerDependencies ?? {}).filter(([name]) => !peerDependenciesMeta?.[name]?.optional);
    const all = { ...dependencies, ...optionalDependencies, ...Object.fromEntries(peers) };
    pending.push(...Object.keys(all).map((needs) => ({ from: place, name: needs })));
  }
  return needed;
}

/** Where Node finds a package: in the nearest node_modules at or above `from` that has it. */
function placeOf(root: string, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(root, place))) return place;
    if (folder === '') return undefined;
  }
}

function matches(rules: readonly [RegExp, string][], text: string, matched: Set<RegExp>): boolean {
  const rule = rules.find(([pattern]) => pattern.test(text));
  if (rule) matched.add(rule[0]);
  return rule !== undefined;
}

/** The files of a package that stay. Its own node_modules are other packages. */
function filesOf(root: string, place: string, isWhole: boolean, matched: Set<RegExp>): string[] {
  const files: string[] = [];
  const folders = [place];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      const inPackages = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules') folders.push(path);
      } else if (isWhole ? !matches(unused.files, inPackages, matched) : notice.test(path.slice(place.length + 1))) {
        files.push(path);
      }
    }
  }
  return files;
}
