import { describe, expect, it } from 'vitest';
import { read, repositoryFiles } from './repository.ts';

const texts = repositoryFiles(/^(src|prisma|scripts|test|load-tests)\/.*\.ts$/).map(
  (file) => [file, read(file)] as const,
);

/** Every name between the braces of an import, of a re-export or of what `await import(…)` gives. */
const imported = new Set(
  texts.flatMap(([, text]) =>
    [...text.matchAll(/\{([^{}]*)\}\s*(?:from\s|=\s*\(?await import\()/g)].flatMap(
      ([, names]) => names?.match(/\w+/g) ?? [],
    ),
  ),
);

/** Loaders and the API page read all exports of these; openapi-typescript writes `*.api.ts`. */
const readAsAWhole = /\.(schema|config|api)\.ts$|\/di\.ts$/;

/** Files of which the door gives all exports. */
const givenWhole = new Set(
  [...read('src/chassis/index.ts').matchAll(/^export \* from '\.\/(.*)';$/gm)].map(([, file]) => `src/chassis/${file}`),
);

/** These hold the texts of files that are written for a service. */
const writers = /^src\/chassis\/cli\/(module|service)\/[\w-]+-files\.ts$/;

/** What a file exports and no other file imports; a type that another declaration of the file uses is part of that. */
function unread([file, text]: readonly [string, string]): string[] {
  const exported = /^export (?:declare |abstract |async )*(const|function\*?|class|interface|type|enum) (\w+)/gm;
  return [...text.matchAll(exported)].flatMap(([, kind = '', name = '']) => {
    const isMain = name.toLowerCase() === file.replace(/.*\/|\.ts$|[-.]/g, '').toLowerCase();
    const isUsedType = /interface|type/.test(kind) && (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1;
    return imported.has(name) || isMain || isUsedType ? [] : [`${file}: ${name}`];
  });
}

describe('exports of the sources', () => {
  it('are read by another file', () => {
    const sources = texts.filter(
      ([file]) => file.startsWith('src/') && !readAsAWhole.test(file) && !givenWhole.has(file) && !writers.test(file),
    );
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.flatMap(unread)).toEqual([]);
  });
});
