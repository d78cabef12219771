import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { packageDirectory } from './package-file.ts';

/**
 * The reference service of this version of the chassis: its own files, by their paths. The package brings them as one file,
 * which nothing imports.
 *
 * @throws Error where the package was not built by `npm pack`
 */
export function referenceService(): Record<string, string> {
  const file = join(packageDirectory, 'lib/sample.json.br');
  if (!existsSync(file))
    throw new Error(`Expected the reference service in ${file}, found nothing; install slipway again.`);
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString());
}
