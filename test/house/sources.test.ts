import { basename } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { exportedNames } from './exported-names.ts';
import { parse, read, repositoryFiles } from './repository.ts';

const sources = repositoryFiles(/^src\/.*\.ts$/);
const tests = repositoryFiles(/^test\/.*\.test\.ts$/);

/** Files that are lists by nature: of types, of settings, of exceptions, or what the door gives. */
const lists = /(types|settings|exceptions|schemas?|index|main|config|layout|\.api)$|^di$/;

describe('sources', () => {
  it('leave the process to chassis/lifecycle and to programs of their own', () => {
    const others = sources.filter((file) => !/^src\/chassis\/(lifecycle|bundle|cli|image|testing)\//.test(file));
    expect(others.flatMap((file) => processCalls(parse(file)).map((call) => `${file}:${call}`))).toEqual([]);
  });

  it('read no variable of the process: run.ts hands them over, programs of their own and tests read them', () => {
    // The SDK of OpenTelemetry reads them by itself: there it is made to read those of one service.
    const may = /^src\/chassis\/(run\.ts$|cli\/|image\/|testing\/|telemetry\/tracing\/sdk-variables\.ts$)/;
    expect(sources.filter((file) => !may.test(file) && readsVariables(parse(file)))).toEqual([]);
  });

  it.each([
    ['export const name = process.env.NAME;', true],
    ["export const port = Number(process.env['PORT'] ?? 0);", true],
    ["export const all = globalThis.process['env'];", true],
    ['export const f = () => { const { env } = process; return env; };', true],
    ["import { env } from 'node:process';", true],
    ["import process from 'node:process'; export const { pid } = process; export const now = process.uptime();", false],
  ])('would be found to read variables, or not: %s', (source, reads) => {
    expect(readsVariables(ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true))).toBe(reads);
  });

  it('export something with a word of the file name in it', () => {
    const wrong = sources.filter((file) => {
      const stem = basename(file, '.ts');
      const names = exportedNames(parse(file));
      if (lists.test(stem) || names.length === 0 || names.includes('default')) return false;
      const words = stem.split(/[-.]/).map((word) => word.replace(/s$/, ''));
      return !names.some((name) => words.some((word) => name.toLowerCase().includes(word)));
    });
    expect(wrong).toEqual([]);
  });
});

describe('tests', () => {
  it('wait for events, never for time', () => {
    const sleep = /(await|return)\s+(new Promise\s*\(.{0,40}setTimeout|setTimeout\(|sleep\()/;
    expect(tests.filter((file) => sleep.test(read(file)))).toEqual([]);
  });

  it('use the real thing, no mock', () => {
    expect(tests.filter((file) => /\bvi\.(mock|doMock|spyOn|stubGlobal)\(/.test(read(file)))).toEqual([]);
  });

  it('stand where their subject stands', () => {
    const mirrored = tests.filter((file) => /^test\/(chassis|modules)\//.test(file));
    const lost = mirrored.filter((file) => {
      const folder = file.replace(/^test\//, 'src/').replace(/\/[^/]+$/, '/');
      return !sources.some((source) => source.startsWith(folder));
    });
    expect(lost).toEqual([]);
  });
});

/** Calls such as `process.exit()` and `process.on()`, which belong to the owner of the process. */
function processCalls(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'process') {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      const member = node.name.text;
      if (/^(exit|exitCode|abort|kill|on|once|addListener|prependListener)$/.test(member))
        found.push(`${line + 1}: process.${member}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Whether a file names `process.env`, imports `env` by itself, or takes it out of the process in another form. */
function readsVariables(file: ts.SourceFile): boolean {
  const isProcess = (node: ts.Node | undefined) => node !== undefined && /\bprocess$/.test(node.getText());
  const isRead = (node: ts.Node): boolean => {
    if (ts.isPropertyAccessExpression(node) && isProcess(node.expression)) return node.name.text === 'env';
    if (ts.isElementAccessExpression(node) && isProcess(node.expression)) return true;
    if (ts.isVariableDeclaration(node) && isProcess(node.initializer))
      return /\benv\b|\.\.\./.test(node.name.getText());
    if (ts.isImportDeclaration(node)) return /\benv\b.*process'/.test(node.getText());
    return ts.forEachChild(node, (child) => isRead(child) || undefined) ?? false;
  };
  return file.statements.some(isRead);
}
