import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSample, read, repositoryFiles, root } from './repository.ts';

// The tutorial names files of the service that it makes.
const documents = repositoryFiles(/^(?!docs\/(reference\/spec|tutorial)).*\.md$/);
const scripts = ['package.json', 'load-tests/peers/package.json'].flatMap((file) =>
  Object.keys(JSON.parse(read(file)).scripts),
);

describe('documents', () => {
  it('of docs are linked from their index, which README.md links', () => {
    const pages = repositoryFiles(/^docs\/(tutorial|how-to|reference|explanation)\/.*\.md$/);
    const index = read('docs/README.md');
    expect(pages.filter((page) => !index.includes(`](${page.slice('docs/'.length)})`))).toEqual([]);
    expect(read('README.md')).toContain('](docs/README.md)');
  });

  it('name npm scripts that exist', () => {
    expect(
      offences(/\bnpm (?:run )?((?<=run )[a-z][\w:-]*|start|test)\b/g, (script) => scripts.includes(script)),
    ).toEqual([]);
  });

  it.skipIf(!hasSample)('name files of the repository that exist', () => {
    const path = /`((?:src|test|prisma|scripts|docs|\.github|\.ci)\/[^`\s<*{]+)`/g;
    const exists = (named: string) => existsSync(join(root, named)) || named.startsWith('src/generated');
    expect(offences(path, exists)).toEqual([]);
  });
});

/** What a pattern finds in the documents and `holds` refuses. The contract speaks of another tree of files. */
function offences(pattern: RegExp, holds: (found: string) => boolean): string[] {
  return documents.flatMap((file) =>
    [...read(file).matchAll(pattern)].flatMap(([, found = '']) => (holds(found) ? [] : [`${file}: ${found}`])),
  );
}

describe('CHANGELOG.md', () => {
  it('keeps one grammar: versions, five headings in this order, sentences', () => {
    const lines = read('CHANGELOG.md')
      .split('\n')
      .filter((line) => line.trim() !== '');
    const grammar = [
      /^# Changelog$/,
      /^Every entry is one sentence .*\.$/,
      /^## (Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d)$/,
      /^### (Breaking|Added|Changed|Removed|Fixed)$/,
      /^- [A-Z`/].*\.$/,
    ];
    expect(lines.filter((line) => !grammar.some((rule) => rule.test(line)))).toEqual([]);
    const headings = lines.map((line) => /^### (.*)$/.exec(line)?.[1] ?? line).filter((line) => !line.startsWith('-'));
    expect(headings.join()).not.toMatch(/(Added|Changed|Removed|Fixed),Breaking|(Changed|Removed|Fixed),Added/);
  });
});

describe('docs/explanation/security.md', () => {
  it('leaves to an identity provider what it must, and tells how to use one', () => {
    const [, left = '', how = ''] =
      /## What belongs to an identity provider\n(.*)## How to use one\n(.*)/s.exec(
        read('docs/explanation/security.md'),
      ) ?? [];
    for (const subject of [/reset of a forgotten password/i, /verification of e-mail/i, /second factors/i])
      expect(left).toMatch(subject);
    expect(how).toMatch(/OpenID Connect/);
  });
});

describe('docs/how-to/identity.md', () => {
  it('names every guard', () => {
    const guards = [
      ...read('src/chassis/identity/guards.ts').matchAll(/^ {2}(\w+)(?:<.*>)?\([^;]*?\): RequestHandler/gm),
    ];
    expect(guards.length).toBeGreaterThan(4);
    for (const [, name] of guards) expect(read('docs/how-to/identity.md')).toContain(`\`auth.${name}(`);
  });
});

describe('docs/decisions', () => {
  const decisions = repositoryFiles(/^docs\/decisions\/.*\.md$/);

  it('are numbered without a gap', () => {
    const numbers = decisions.map((file) => Number(/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('say decision, reason and consequence, each within half a page', () => {
    const wrong = decisions.filter((file) => {
      const headings = [...read(file).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      return headings.join() !== 'Decision,Why,What follows' || read(file).split('\n').length > 35;
    });
    expect(wrong).toEqual([]);
  });
});

describe('continuous integration', () => {
  it('runs .ci/run, which ends with npm run check', () => {
    expect(read('.github/workflows/check.yml')).toContain('run: .ci/run');
    expect(read('.ci/run').trimEnd()).toMatch(/npm run --silent check$/);
  });

  it.each(repositoryFiles(/^\.github\/workflows\/.*\.ya?ml$/))(
    '%s pins actions by commit, says the version and asks for few permissions',
    (file) => {
      const uses = [...read(file).matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action);
      expect(uses.filter((action) => !/^(\.\/.*|\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(action))).toEqual([]);
      expect(read(file)).toMatch(/^permissions:/m);
    },
  );
});
