/**
 * Builds the service into dist/: `npm run build`. Of its own files and those of its packages it makes a few, because Node
 * needs longer to find and open a thousand files than to run what stands in them. What is loaded on demand stays apart.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { leanHttp, oneGrpc, wasmFiles } from './build-plugins.ts';
import { unbundledPackages } from './unbundled-packages.ts';

const root = join(import.meta.dirname, '..');
/** Files that are found by their place, not by an import: each keeps its place in the build. */
const placed = [
  'src/main.ts',
  'src/generated/data-model.ts',
  'src/chassis/database/sqlite/sqlite-worker.ts',
  'prisma/seed.ts',
];
/** The same in modules, where not everyone has each of them. */
const placedInModules = 'src/modules/**/{di,*.config,*.events,*.jobs,*.lifecycle,*.routes}.ts';
/** The clients, of one database or of two. */
const placedClients = 'src/generated/*/client.ts';

/** Where packages go: below a folder by which tools tell foreign frames of a stack from own ones. */
const packages = 'node_modules/bundled';

/** Where to build, and what else. */
export interface BuildOptions {
  /** Absolute path of a folder beside `prisma` and package.json; what is in it goes. Default: dist. */
  outDir?: string;
  /** Further files that keep their place, as patterns from the root of the project. */
  more?: readonly string[];
}

/** Bundles the service. Types are not checked; the clients of the databases must have been generated. */
export async function build({ outDir = join(root, 'dist'), more = [] }: BuildOptions = {}): Promise<void> {
  rmSync(outDir, { recursive: true, force: true });
  const files = [...placed, ...globSync([placedClients, placedInModules, ...more], { cwd: root })];
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(files.map((file) => [placeOf(file), file])),
    platform: 'node',
    // The database is a file; what speaks to servers of its kind stays out.
    resolve: { alias: { '@libsql/client': '@libsql/client/sqlite3' } },
    external: unbundledPackages.map((name) => new RegExp(`^${name}(/|$)`)),
    plugins: [leanHttp, wasmFiles, oneGrpc],
    // It would end the service instead of the build.
    onLog: (level, log, handle) => handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log),
  });
  await bundle.write({
    dir: outDir,
    entryFileNames: '[name].js',
    // config/layout.ts counts the folders.
    chunkFileNames: ({ name }) =>
      name.startsWith('node_modules') ? `${packages}/[hash].mjs` : 'chassis/chunks/[name].js',
    codeSplitting: { groups: [{ name: 'node_modules', test: /node_modules/, entriesAware: true }] },
    keepNames: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  for (const file of files.filter((name) => name.endsWith('.routes.ts'))) {
    // A bundler keeps comments only before what it keeps, and the API page is read from all of them.
    const comments = readFileSync(join(root, file), 'utf8').match(/\/\*\*.*?\*\//gs) ?? [];
    writeFileSync(join(outDir, `${placeOf(file)}.openapi.js`), comments.join('\n'));
  }
  // Stacks show packages as they are.
  for (const map of globSync(`${packages}/*.map`, { cwd: outDir })) rmSync(join(outDir, map));
}

/** Where a file is in the build, without its ending. */
function placeOf(file: string): string {
  return file.replace(/^src\/|\.ts$/g, '');
}

if (import.meta.main) await build();
