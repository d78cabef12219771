import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { chassisFile, sourcesDirectory } from '../../config/layout.ts';
import { lazyPackagesPlugin, oneGrpcPlugin, wasmFilesPlugin, wholeModulesPlugin } from './build-plugins.ts';
import { programOf, programsPlugin, requiredFilesPlugin } from './programs.ts';
import { startChunks } from './start-chunks.ts';
import { absentPackages, unbundledPackages } from './unbundled-packages.ts';

/** Files of a service that are found by their place, not by an import: each keeps its place in the build. */
const placedIn = (source: string) => [
  `${source}/main.ts`,
  `${source}/app.config.ts`,
  `${source}/modules/**/{di,*.config,*.events,*.jobs,*.lifecycle,*.routes}.ts`,
  'src/generated/data-model.ts',
  // The clients, of one database or of two.
  'src/generated/*/client.ts',
  'prisma/seed.ts',
];
/** The same of the chassis: what runs in a thread of its own, and what the image runs beside the service. */
const placedOfChassis = ['database/sqlite/sqlite-worker', 'image/health-check', 'image/warm'];

/** Where packages go: below a folder by which tools tell foreign frames of a stack from own ones. */
const packages = 'node_modules/bundled';

/** Where to build, and what else. */
export interface BuildOptions {
  /** Absolute path of the service. Default: that of the working directory, or this repository. */
  root?: string;
  /** What holds `main.ts`, `app.config.ts` and `modules`, from the root. Default: src. */
  source?: string;
  /** Absolute path of a folder beside `prisma` and package.json; what is in it goes. Default: dist. */
  outDir?: string;
  /** Further files that keep their place, as patterns from the root of the service. */
  more?: readonly string[];
}

/**
 * Bundles the service: of its own files and those of its packages it makes a few, because Node needs longer to find and
 * open a thousand files than to run what stands in them. What is loaded on demand stays apart. Types are not checked; the
 * clients of the databases must have been generated.
 *
 * @throws Error with what cannot be bundled
 */
export async function buildService(options: BuildOptions = {}): Promise<void> {
  const { root = join(sourcesDirectory, '..'), source = 'src', outDir = join(root, 'dist'), more = [] } = options;
  rmSync(outDir, { recursive: true, force: true });
  const files = globSync([...placedIn(source), ...more], { cwd: root });
  const placeOf = (file: string) =>
    (file.startsWith(`${source}/`) ? file.slice(source.length + 1) : file).replace(/^src\/|\.ts$/g, '');
  const bundle = await rolldown({
    cwd: root,
    input: {
      ...Object.fromEntries(files.map((file) => [placeOf(file), isProgram(file) ? programOf(file) : file])),
      ...Object.fromEntries(placedOfChassis.map((name) => [`chassis/${name}`, chassisFile(name)])),
    },
    platform: 'node',
    // The database is a file; what speaks to servers of its kind stays out.
    resolve: { alias: { '@libsql/client': '@libsql/client/sqlite3' } },
    external: [...unbundledPackages(root), ...absentPackages(root)].map((name) => new RegExp(`^${name}(/|$)`)),
    plugins: [
      programsPlugin(placeOf),
      requiredFilesPlugin,
      wasmFilesPlugin,
      wholeModulesPlugin,
      oneGrpcPlugin,
      lazyPackagesPlugin,
    ],
    // It would end the service instead of the build.
    onLog: (level, log, handle) => handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log),
  });
  await bundle.write({
    dir: outDir,
    // Code that V8 compiled can be kept of scripts only once they have run, not of modules.
    format: 'cjs',
    strict: true,
    exports: 'named',
    dynamicImportInCjs: false,
    entryFileNames: '[name].js',
    // config/layout.ts counts the folders.
    chunkFileNames: ({ name }) =>
      name.startsWith('node_modules') ? `${packages}/[hash].cjs` : `chassis/chunks/${name.replace(/~.*/, '')}.js`,
    codeSplitting: {
      groups: [
        ...startChunks(join(root, source), foreign),
        { name: 'node_modules', test: foreign, entriesAware: true },
      ],
    },
    keepNames: true,
    // Licences stay; of the others each start would read half a megabyte.
    comments: { annotation: false, jsdoc: false },
    // V8 holds a source with two bytes for each letter as soon as one is beyond Latin-1.
    charset: 'ascii',
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  for (const file of files.filter((name) => name.endsWith('.routes.ts'))) {
    // A bundler keeps comments only before what it keeps, and the API page is read from all of them.
    const comments = readFileSync(join(root, file), 'utf8').match(/\/\*\*.*?\*\//gs) ?? [];
    writeFileSync(join(outDir, `${placeOf(file)}.openapi.js`), comments.join('\n'));
  }
  // Below a package.json that says otherwise.
  writeFileSync(join(outDir, 'package.json'), '{ "type": "commonjs" }\n');
  // Stacks show packages as they are.
  for (const map of globSync(`${packages}/*.map`, { cwd: outDir })) rmSync(join(outDir, map));
}

const isProgram = (file: string) => basename(file) === 'main.ts';

/** Packages, but for the chassis as a package: it finds files by their place in the build. */
const foreign = /node_modules[\\/](?!slipway[\\/]lib[\\/])/;
