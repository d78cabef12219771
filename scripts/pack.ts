/**
 * Builds what `npm pack` puts into the package, into lib/: the chassis as JavaScript with its types, the load tests, and the reference service as one file. Runs before `npm pack`;
 * `--undo` after it leads lib/ to the sources again.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { brotliCompressSync } from 'node:zlib';
import typescript from 'typescript';
import { entries, linkPackage } from './link-package.ts';
import { importsOf, sampleFiles } from './sample-files.ts';

const root = join(import.meta.dirname, '..');
const lib = join(root, 'lib');
/** What `slipway load` runs; the rest measures this repository. */
const loadTests = ['load-tests/{contract,lib,run,scenarios}/*.ts', 'load-tests/servers/payment-provider.ts'];

function buildPackage(): void {
  rmSync(lib, { recursive: true, force: true });
  compile();
  // Comments stand in the types, where editors show them; in the programs they would be a tenth of the package once more.
  compile('--removeComments', '--declaration', 'false', '--noCheck');
  // The compiler rewrites imports of programs only.
  for (const file of globSync('**/*.d.ts', { cwd: lib })) {
    const text = readFileSync(join(lib, file), 'utf8');
    writeFileSync(join(lib, file), text.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'));
  }
  for (const file of unreachedTypes()) rmSync(join(lib, file));
  chmodSync(join(lib, 'chassis/cli/main.js'), 0o755);
  for (const file of globSync(loadTests, { cwd: root })) writeLoadTest(file);
  // What `slipway new --sample` writes; data, so that nothing of it can be imported.
  writeFileSync(join(lib, 'sample.json.br'), brotliCompressSync(JSON.stringify(sampleFiles())));
  writeFileSync(join(lib, 'tsconfig.json'), JSON.stringify({ compilerOptions: serviceOptions() }, undefined, 2));
}

function compile(...options: string[]): void {
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.package.json', ...options];
  execFileSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' });
}

/** Types that none of the package's entries leads to, half of them: nobody can import what they describe. */
function unreachedTypes(): Set<string> {
  const unreached = new Set(globSync('**/*.d.ts', { cwd: lib }));
  const pending = entries().map(({ types }) => relative('./lib', types));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    // There already, or in the example of a comment.
    if (!unreached.delete(file)) continue;
    const imported = importsOf(file, readFileSync(join(lib, file), 'utf8'));
    pending.push(...imported.map((path) => path.replace(/\.js$/, '.d.ts')));
  }
  return unreached;
}

/** Writes a file of the load tests, whose types nobody imports, as k6 and Node take it from a package. */
function writeLoadTest(file: string): void {
  const text = readFileSync(join(root, file), 'utf8').replaceAll("'../../src/chassis/", "'../../chassis/");
  const { outputText } = typescript.transpileModule(text, {
    compilerOptions: {
      target: typescript.ScriptTarget.ES2024,
      module: typescript.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  });
  const written = join(lib, file.replace(/ts$/, 'js'));
  mkdirSync(dirname(written), { recursive: true });
  writeFileSync(written, outputText);
}

/** The options of the compiler that a service extends: those of this repository. */
function serviceOptions(): object {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  return compilerOptions;
}

if (process.argv.includes('--undo')) linkPackage();
else buildPackage();
