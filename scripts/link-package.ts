import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The entries of the package: for each export of package.json the file of types and the program. */
export function entries(): { types: string; default: string }[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string; default: string }>;
  };
  return Object.values(exports).filter((target) => typeof target !== 'string');
}

/**
 * Writes into lib/ entries that lead to the sources, so that `import … from 'slipway'` within this repository means the
 * files as they are. A package that `npm pack` left there goes.
 */
export function linkPackage(): void {
  if (entries().every((entry) => read(entry.default) === linkTo(entry.default))) return;
  rmSync(join(root, 'lib'), { recursive: true, force: true });
  for (const entry of entries()) {
    mkdirSync(join(root, dirname(entry.default)), { recursive: true });
    for (const file of [entry.types, entry.default]) writeFileSync(join(root, file), linkTo(file));
  }
}

/** `./lib/chassis/index.js` and its types lead to `src/chassis/index.ts`. */
function linkTo(file: string): string {
  const source = file.replace(/^\.\/lib/, 'src').replace(/(\.d\.ts|\.js)$/, '.ts');
  return `export * from '${relative(dirname(file), source)}';\n`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    // There is none yet.
    return undefined;
  }
}
