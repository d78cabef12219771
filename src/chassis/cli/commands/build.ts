import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildService } from '../build/build-service.ts';
import { makeImageDirectory } from '../build/image-directory.ts';

/**
 * Bundles the service of the working directory into dist/; with `--image <directory>` makes what its image holds as well.
 *
 * @throws Error with what cannot be bundled
 */
export async function build(args: string[]): Promise<void> {
  const { values } = parseArgs({ options: { image: { type: 'string' } }, args });
  if (values.image === undefined) return buildService();
  const { packages, installed, bytes } = await makeImageDirectory(resolve(values.image));
  console.log(`${packages} of ${installed} packages stay beside the bundle, ${(bytes / 1e6).toFixed(1)} MB`);
}
