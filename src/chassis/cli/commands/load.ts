import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { importFile } from '../../config/layout.ts';
import { packageDirectory } from '../service/package-file.ts';

/** Puts the service of the working directory under load, and ends the process with what came of it. */
export async function load(args: string[]): Promise<void> {
  const [built, source] = ['lib/load-tests/run/load-command.js', 'load-tests/run/load-command.ts'];
  const file = [built, source].map((name) => join(packageDirectory, name)).find((one) => existsSync(one));
  const { loadCommand } = await importFile(file ?? built);
  await loadCommand(args);
}
