import { expect, it } from 'vitest';
import { hasSample, read, repositoryFiles } from './repository.ts';

/** Files that are short because somebody else says that they exist, each with who. */
const standing: Readonly<Record<string, string>> = {
  'src/main.ts': 'Node starts it',
  'src/chassis/testing/index.ts': 'the entry slipway/testing of the package',
  'src/chassis/testing/global-setup.ts': 'vitest loads it by its path, in a process of its own',
  'src/chassis/testing/setup-file.ts': 'vitest runs it anew in each test file, where the hooks of a module run once',
  'src/chassis/cli/commands/generate.ts': 'each command is a file of commands/, loaded when it is called',
  'src/chassis/cli/commands/load.ts': 'the same',
};

/** Files of the service: those of modules have one role each, which the loaders find by the name, and one names the modules. */
const ofService = /^src\/(modules\/|app\.config\.ts$)/;

it('files of fewer than 15 lines join what they serve, but for those that must stand alone', () => {
  const lines = (file: string) => read(file).split('\n').length - 1;
  const small = repositoryFiles(/^src\/.*\.ts$/).filter((file) => !ofService.test(file) && lines(file) < 15);
  expect(small.sort()).toEqual(Object.keys(standing).sort());
});

it.skipIf(!hasSample)('a module that uses all of the chassis needs fewer than 500 lines of code', () => {
  // payments.api.ts is generated from payments.yaml.
  const written = repositoryFiles(/^src\/modules\/orders\/.*\.ts$/).filter((file) => !file.endsWith('.api.ts'));
  const isCode = (line: string) => !/^\s*($|\/\/|\/?\*)/.test(line);
  const lines = written.flatMap((file) => read(file).split('\n').filter(isCode));
  expect(written.length).toBeGreaterThan(15);
  expect(lines.length).toBeLessThan(500);
});
