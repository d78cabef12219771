import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';
import { sourcesDirectory } from './layout.ts';

/** Which build of which service this is. */
export interface BuildInfo {
  name: string;
  version: string;
  /** The commit that it was built from; `unknown` where SOURCE_REVISION is not set. */
  revision: string;
}

/** Name and version of package.json, and the revision that the image was built with. */
export function buildInfo({ SOURCE_REVISION }: Pick<Environment, 'SOURCE_REVISION'>): BuildInfo {
  const { name, version } = JSON.parse(readFileSync(join(sourcesDirectory, '../package.json'), 'utf8'));
  return { name, version, revision: SOURCE_REVISION ?? 'unknown' };
}
