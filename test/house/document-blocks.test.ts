import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { render, skipped } from '../chart/chart.ts';
import { type CodeBlock, codeBlocks } from './code-blocks.ts';

const where = ({ file, line, info }: CodeBlock) => `${file}:${line} ${info}`;
/** Languages that a test checks, and those that are pictures or what a program prints. */
const languages = new Set(['ts', 'sh', 'json', 'yaml', 'text', 'mermaid', '']);

/** What a shell block says of itself in its first line. */
const declared = /^(run|start|not run: .{10,})$/;

describe('blocks of documents', () => {
  it('are in languages that are checked', () => {
    const others = codeBlocks('bash', 'shell', 'js', 'javascript', 'typescript', 'yml', 'diff', 'console', 'sql');
    expect(others.map(where)).toEqual([]);
    expect(languages.size).toBe(7);
  });

  it('of shell say whether a test runs them, or why none does', () => {
    expect(
      codeBlocks('sh')
        .filter(({ info }) => !declared.test(info))
        .map(where),
    ).toEqual([]);
  });

  it('of shell are commands that a shell can read', () => {
    const wrong = codeBlocks('sh').filter(({ code }) => spawnSync('bash', ['-n'], { input: code }).status !== 0);
    expect(wrong.map(where)).toEqual([]);
  });

  it('of JSON parse', () => {
    expect(
      codeBlocks('json')
        .filter(({ code }) => !parses(() => JSON.parse(code)))
        .map(where),
    ).toEqual([]);
  });

  it('of YAML parse', () => {
    const wrong = codeBlocks('yaml').filter(({ code }) =>
      parseAllDocuments(code).some(({ errors }) => errors.length > 0),
    );
    expect(wrong.map(where)).toEqual([]);
  });

  it('of YAML are values of the chart, which tests render', () => {
    const others = codeBlocks('yaml').filter(({ info, file }) => info !== 'values' && !file.startsWith('helm/'));
    expect(others.map(where)).toEqual([]);
  });

  const values = codeBlocks('yaml').filter(({ info }) => info === 'values');
  it.skipIf(skipped('helm')).each(values)(`with values render the chart: $file:$line${skipped('helm')}`, ({ code }) => {
    expect(render(parseAllDocuments(code)[0]?.toJS())).not.toEqual([]);
  });
});

function parses(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}
