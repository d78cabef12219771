import { describe, expect, it } from 'vitest';
import { read, repositoryFiles } from './repository.ts';

/** What the text of this repository never speaks of: how it came about, who wrote it, what it was before. */
const forbidden: [word: string, pattern: RegExp][] = [
  ['an issue by number', /\bissues? #?\d+\b|\(#\d+\)/i],
  ['an AI or its session', /\b(AI|LLM|GPT|Claude|Copilot|coding agent|this session|previous session)\b/],
  ['an author', /\b(I|we|our|us|my)\b(?! ?[-=:.<([])/],
  ['a working paper', /\b(blueprint|facts\.md|style\.md|design\.md|module\.md|chart\.md)\b/],
  ['history', /\b(previously|used to be|formerly|legacy|as requested|newly added|refactored)\b/i],
  ['a plan', /\b(TODO|FIXME|XXX|HACK|WIP|for now|coming soon|not yet implemented)\b/i],
];

// The contract has its own words; this file names the words that it looks for; people choose any word as a password.
const notProse = [
  'docs/reference/spec.md',
  'test/house/prose.test.ts',
  'package-lock.json',
  'docs/.vitepress/package-lock.json',
  'src/modules/auth/common-passwords.json',
];
const files = repositoryFiles(/(\.(ts|mjs|md|yml|yaml|json|jsonc|prisma|sql)|^\.ci\/run|^\.env\.example)$/).filter(
  (file) => !notProse.includes(file),
);

const texts = files.map((file) => [file, prose(file)] as const);

/** Only what is written for people: Markdown without its code, and the comments of everything else. */
function prose(file: string): string {
  const text = read(file);
  if (file.endsWith('.md')) return text.replaceAll(/```.*?```/gs, '').replaceAll(/`[^`\n]*`/g, '');
  if (!/\.(ts|mjs|jsonc|prisma)$/.test(file)) return text;
  const comments = text.matchAll(/\/\*\*?.*?\*\/|(?<=^|\s)\/\/[^\n]*/gs);
  return [...comments].map(([comment]) => comment.replaceAll(/`[^`\n]*`/g, '')).join('\n');
}

describe('prose', () => {
  it.each(forbidden)('never speaks of %s', (_what, pattern) => {
    const found = texts.flatMap(([file, text]) => {
      const match = pattern.exec(text);
      return match ? [`${file}: ${text.slice(Math.max(0, match.index - 30), match.index + 40)}`] : [];
    });
    expect(found).toEqual([]);
  });
});
