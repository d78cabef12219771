import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleFiles } from '../../scripts/sample-files.ts';
import { hasSample, read, repositoryFiles } from './repository.ts';

const ownFolders = /^(src\/modules|prisma|test\/modules)\//;

it.skipIf(!hasSample)(
  'the reference service is whole without this repository: it and its tests import the chassis by its door',
  () => {
    const files = Object.keys(sampleFiles());
    expect(files).toEqual(expect.arrayContaining(repositoryFiles(ownFolders)));
    expect(
      files.filter((file) => !ownFolders.test(file) && !/^(src\/(main|app\.config)\.ts$|test\/support\/)/.test(file)),
    ).toEqual([]);
  },
);

it('no test of the chassis imports the reference service, which may be deleted together with its tests', () => {
  const ofSample = /^(src\/(modules\/|app\.config\.ts|main\.ts)|test\/(modules|sample)\/)/;
  const others = repositoryFiles(/^(test|load-tests|scripts|prisma)\/.*\.ts$/).filter((file) => !ofSample.test(file));
  const imports = others.flatMap((file) =>
    [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(
      ([, path = '']) => [file, join(dirname(file), path)] as const,
    ),
  );
  expect(imports.length).toBeGreaterThan(500);
  expect(imports.filter(([, path]) => ofSample.test(path)).map((pair) => pair.join(' imports '))).toEqual([]);
});
