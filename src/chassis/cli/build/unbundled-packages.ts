import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages of the chassis that the build leaves where they are, because they are more than JavaScript, or are found by their path. */
const ofChassis = [
  // Loads the compiled library of the machine that it runs on.
  'libsql',
  // Files that the API page serves.
  'swagger-ui-dist',
  // Five megabytes of WebAssembly, for migrations only.
  '@prisma/schema-engine-wasm',
];

/**
 * The packages that stay beside the bundle: those of the chassis, and those that package.json of the service names in
 * `"slipway": { "unbundled": ["sharp"] }`.
 *
 * @param root absolute path of the service
 * @throws Error for a name of a package that it does not depend on
 */
export function unbundledPackages(root: string): string[] {
  const { slipway, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    slipway?: { unbundled?: string[] };
    dependencies?: Record<string, string>;
  };
  const own = slipway?.unbundled ?? [];
  const missing = own.filter((name) => !(name in (dependencies ?? {})));
  if (missing.length > 0) {
    throw new Error(
      `Expected packages of "dependencies" in slipway.unbundled of package.json, got ${missing.join(', ')}.`,
    );
  }
  return [...ofChassis, ...own];
}
