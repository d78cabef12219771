import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportedNames } from './exported-names.ts';
import { parse, repositoryFiles } from './repository.ts';

const sources = repositoryFiles(/^src\/chassis\/.*\.ts$/);
/** The entries of the package, which only hand on. */
const doors = /^src\/chassis\/(testing\/)?index\.ts$/;
const folders = [...new Set(sources.map(dirname))].filter((folder) => folder !== 'src/chassis');

type Named = readonly [name: string, place: string];

/** A name without what makes its words a plural, a verb or who does it: `read-body` and `readers-bodies` are one. */
function stemOf(path: string): string {
  const words = basename(path, '.ts').split('-');
  return words.map((word) => word.replace(/ies$/, 'y').replace(/(?<=\w{3})(ings?|ers?|s)$/, '')).join('-');
}

function twins(named: readonly Named[]): string[] {
  const groups = Map.groupBy(named, ([name]) => name);
  return [...groups].flatMap(([name, group]) =>
    group.length > 1 ? [`${name}: ${group.map(([, place]) => place).join(', ')}`] : [],
  );
}

describe('names of the chassis', () => {
  it('tell two files apart by more than a plural or the form of a verb', () => {
    expect(twins(sources.filter((file) => !doors.test(file)).map((file) => [stemOf(file), file]))).toEqual([]);
  });

  it('tell a folder from the files and folders beside it', () => {
    expect(twins([...sources, ...folders].map((path) => [`${dirname(path)}/${stemOf(path)}`, path]))).toEqual([]);
  });

  it('are exported by one file each, and by the door', () => {
    const files = sources.filter((file) => !doors.test(file));
    const exported = files.flatMap((file) =>
      [...new Set(exportedNames(parse(file)))].map((name): Named => [name, file]),
    );
    expect(twins(exported.filter(([name]) => name !== 'default'))).toEqual([]);
  });
});
