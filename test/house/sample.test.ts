import { expect, it } from 'vitest';
import { sampleFiles } from '../../scripts/sample-files.ts';
import { hasSample, repositoryFiles } from './repository.ts';

it.skipIf(!hasSample)(
  'the reference service is whole without this repository: it and its tests import the chassis by its door',
  () => {
    const files = Object.keys(sampleFiles());
    expect(files).toEqual(expect.arrayContaining(repositoryFiles(/^(src\/modules|prisma|test\/modules)\//)));
    expect(
      files.filter(
        (file) => !/^(src\/(main|app\.config)\.ts$|src\/modules|prisma|test\/(modules|support)\/)/.test(file),
      ),
    ).toEqual([]);
  },
);
