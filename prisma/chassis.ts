import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The parts of the chassis that the programs in this folder use, by their path in it. */
interface Parts {
  'config/environment': typeof import('../src/chassis/config/environment.ts');
  'database/create-migration': typeof import('../src/chassis/database/create-migration.ts');
  'database/migrations': typeof import('../src/chassis/database/migrations.ts');
  'database/orm': typeof import('../src/chassis/database/orm.ts');
}

const root = join(import.meta.dirname, '..');
const fromSource = existsSync(join(root, 'src/chassis'));

/** Loads a part of the chassis from the sources, or from the build where only that was shipped. */
export function chassis<P extends keyof Parts>(part: P): Promise<Parts[P]> {
  const file = join(root, fromSource ? 'src' : 'dist', 'chassis', `${part}${fromSource ? '.ts' : '.js'}`);
  return import(pathToFileURL(file).href);
}
