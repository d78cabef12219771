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

/** Packages that a service brings itself if it uses what needs them. */
const optional = ['@aws-sdk/client-s3'];

/**
 * The packages that stay beside the bundle: those of the chassis, and those that package.json of the service names in
 * `"slipway": { "unbundled": ["sharp"] }`.
 *
 * @param root absolute path of the service
 * @throws Error for a name of a package that it does not depend on
 */
export function unbundledPackages(root: string): string[] {
  const { slipway, dependencies } = packageOf(root);
  const own = slipway?.unbundled ?? [];
  const missing = own.filter((name) => !(name in (dependencies ?? {})));
  if (missing.length > 0) {
    throw new Error(
      `Expected packages of "dependencies" in slipway.unbundled of package.json, got ${missing.join(', ')}.`,
    );
  }
  return [...ofChassis, ...own];
}

/**
 * The packages that the chassis loads only where settings ask for them, and that the service does not depend on: its build
 * leaves them out, and its start says which one is missing.
 *
 * @param root absolute path of the service
 */
export function absentPackages(root: string): string[] {
  const { dependencies = {} } = packageOf(root);
  return optional.filter((name) => !(name in dependencies));
}

function packageOf(root: string) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    slipway?: { unbundled?: string[] };
    dependencies?: Record<string, string>;
  };
}
