import { expect, it } from 'vitest';
import { read, repositoryFiles } from './repository.ts';

/** Files that are short because somebody else says that they exist, each with who. */
const standing: Readonly<Record<string, string>> = {
  'src/main.ts': 'Node starts it',
  'src/chassis/testing/index.ts': 'the entry slipway/testing of the package',
  'src/chassis/testing/global-setup.ts': 'vitest loads it by its path, in a process of its own',
  'src/chassis/cli/commands/generate.ts': 'each command is a file of commands/, loaded when it is called',
};

/** Files of the service: those of modules have one role each, which the loaders find by the name, and one names the modules. */
const ofService = /^src\/(modules\/|app\.config\.ts$)/;

it('files of fewer than 15 lines join what they serve, but for those that must stand alone', () => {
  const lines = (file: string) => read(file).split('\n').length - 1;
  const small = repositoryFiles(/^src\/.*\.ts$/).filter((file) => !ofService.test(file) && lines(file) < 15);
  expect(small.sort()).toEqual(Object.keys(standing).sort());
});
