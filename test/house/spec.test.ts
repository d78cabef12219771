import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const spec = readFileSync(join(root, 'docs/reference/spec.md'), 'utf8');

/** Sections of spec.md with numbered rules, by their headline or the words in front of the list. */
const sections = [
  'Registration rules',
  'Query parameters of list requests',
  'Error response body',
  'Handling and logging',
  'Start-up order',
];

const tests = (readdirSync(join(root, 'test'), { recursive: true }) as string[])
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(root, 'test', file), 'utf8'));

function rulesOf(section: string): number[] {
  const rest = spec.slice(spec.lastIndexOf(section) + section.length);
  const list = rest.slice(rest.search(/^1\. /m)).split(/\n(?!\d+\. )/, 1)[0] ?? '';
  return [...list.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
}

/** Numbers in `rule 3:`, `rules 2 and 5:` and `rules 1 to 5` behind a mention of the section, up to the next section. */
function testedRules(section: string): Set<number> {
  const numbers = new Set<number>();
  for (const text of tests) {
    for (const part of text.split(`spec.md: ${section}`).slice(1)) {
      const [own = ''] = part.split(/spec\.md: (?=[A-Z])/, 1);
      for (const [, first, word, second] of own.matchAll(/rules? (\d)(?:(?:,)? (and|to) (\d))?/g)) {
        numbers.add(Number(first));
        if (second === undefined) continue;
        for (let rule = word === 'to' ? Number(first) : Number(second); rule <= Number(second); rule++)
          numbers.add(rule);
      }
    }
  }
  return numbers;
}

describe.each(sections)('spec.md: %s', (section) => {
  it('has a test named after each of its rules', () => {
    const rules = rulesOf(section);
    expect(rules.length).toBeGreaterThan(4);
    const tested = testedRules(section);
    expect(rules.filter((rule) => !tested.has(rule))).toEqual([]);
  });
});
