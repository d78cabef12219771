import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse, repositoryFiles } from './repository.ts';

/** The type of a service names all that it owns, and each of those may ask which service is the current one. */
const service = 'src/chassis/service.ts';

const imports = new Map(repositoryFiles(/^src\/chassis\/.*\.ts$/).map((file) => [file, importsOf(file)]));

/** The files that a file imports, for their types too. */
function importsOf(file: string): string[] {
  return parse(file).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith('.')) return [];
    const imported = join(dirname(file), moduleSpecifier.text);
    return imported === service ? [] : [imported];
  });
}

/** The shortest way from a file back to itself; undefined where there is none. */
function circleOf(file: string, graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const ways = [[file]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) as string) ?? []) {
      if (next === file) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

describe('files of the chassis', () => {
  it('need no types of each other: such a type belongs to the file that does not need the other', () => {
    const circles = [...imports.keys()].flatMap((file) => {
      const circle = circleOf(file, imports);
      return circle && circle.toSorted()[0] === file ? [circle.join(' -> ')] : [];
    });
    expect(circles).toEqual([]);
  });

  it('that do so are found', () => {
    const graph = new Map(Object.entries({ a: ['b', 'c'], b: ['d'], d: ['a'], c: [] }));
    expect(circleOf('a', graph)).toEqual(['a', 'b', 'd']);
    expect(circleOf('c', graph)).toBeUndefined();
  });
});
