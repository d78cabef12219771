import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { generatedDirectory, sourcesDirectory } from '../../config/layout.ts';
import { buildService } from './build-service.ts';
import { copyPackages, type ImagePackages, imagePackages } from './image-packages.ts';

/** What the service reads beside its bundle; of the sources Sentry shows the lines around a frame. */
const beside = ['package.json', 'prisma/migrations', 'src'];

/**
 * Makes the directory that an image has as its working directory: the bundle, the packages that it does not hold,
 * migrations and sources.
 *
 * @param target absolute path; what is in it goes
 * @throws Error with what cannot be bundled
 */
export async function makeImageDirectory(target: string): Promise<ImagePackages> {
  const root = join(sourcesDirectory, '..');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await buildService({ root, outDir: join(root, 'dist') });
  cpSync(join(root, 'dist'), join(target, 'dist'), { recursive: true });
  for (const path of beside.filter((one) => existsSync(join(root, one)))) {
    const isOwn = (source: string) => relative(generatedDirectory, source).startsWith('..');
    cpSync(join(root, path), join(target, path), { recursive: true, filter: isOwn });
  }
  const packages = imagePackages(root);
  copyPackages(packages, root, target);
  return packages;
}
