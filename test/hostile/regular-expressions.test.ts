import { createContext, Script } from 'node:vm';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import * as secretNames from '../../src/chassis/telemetry/secret-names.ts';
import { hasSample, parse, repositoryFiles } from '../house/repository.ts';

interface Found {
  file: string;
  expression: RegExp;
}

/** Long enough that work which grows with the square takes seconds; work which grows with the length takes none. */
const length = 50_000;
const limitMs = 1500;

/** Every regular expression that the sources write down, and whether they make others at run time. */
function regularExpressions(): { found: Found[]; made: string[] } {
  const found: Found[] = [];
  const made: string[] = [];
  for (const path of repositoryFiles(/^src\/.*\.ts$/)) {
    const file = parse(path);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const [, source = '', flags] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? [];
        found.push({ file: path, expression: new RegExp(source, flags) });
      }
      if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') {
        made.push(path);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return { found, made };
}

/** Texts that have a backtracking expression try everything: long runs of what it takes, and an end that it does not. */
function adversaries({ source }: RegExp): string[] {
  const literal = [...new Set(source.replaceAll(/\\[a-z]|[()[\]{}|?*+^$\\]/gi, ''))].slice(0, 12);
  const units = new Set([
    'a',
    '0',
    ' ',
    '\t',
    '.',
    '-',
    '/',
    ':',
    'a.',
    'a-',
    '1,',
    'a@',
    '=a',
    ' a',
    'aA1',
    ...literal,
  ]);
  const words = source.match(/[a-z]{2,}/gi) ?? [];
  for (const word of words) units.add(word);
  const ends = ['', '!', '\n', '\u0000', '"'];
  return [...units].flatMap((unit) => {
    const run = unit.repeat(Math.ceil(length / unit.length));
    return [...ends.map((end) => run + end), `${literal[0] ?? ''}${run}\n`];
  });
}

/** Expressions that no client's text reaches, or only a short one: where, what, and what they read. */
const ownTextOnly: Record<string, string> = {
  'src/chassis/cli/generate-clients.ts /(\\w+)\\.prisma$/': 'paths of schemas of the project',
  'src/chassis/database/client/conflict-fields.ts /^(.+?)_(.+)_f?key$/': 'names of constraints, from the database',
  'src/chassis/database/models/provider-models.ts /"(?:[^"\\\\]|\\\\.)*"|\\s*@db\\.\\w+(\\([^)]*\\))?/g':
    'prisma/models.prisma',
  'src/chassis/database/models/read-models.ts /^(\\w+)(?:\\s+(Unsupported\\("[^"]*"\\)|\\w+)(\\[\\])?(\\?)?)?(.*)$/':
    'prisma/models.prisma',
  'src/chassis/http/answers/answer-headers.ts /\\/+$/': 'CORS_ORIGINS',
  'src/chassis/telemetry/sentry/start-sentry.ts /\\/\\/.*@/': 'SENTRY_DSN',
  ...(hasSample && { 'src/modules/auth/password.hash.ts /=+$/': 'base64 that was made here' }),
};

/** Files that make expressions at run time, and what of. */
const madeOfOwnText: Record<string, string> = {
  'src/chassis/cli/build/build-service.ts': 'names of installed packages',
  'src/chassis/cli/module/generate-module.ts': 'the name of a model, by who develops the service',
  'src/chassis/cli/module/models.ts': 'the name of a model, by who develops the service',
  'src/chassis/http/bodies/raw-bodies.ts': 'the method and template of a route that reads raw bodies',
  'src/chassis/http/pipeline/router-paths.ts': 'templates of routes, each parameter of which ends with its segment',
  'src/chassis/http/pipeline/yield-to-specific.ts': 'templates of routes, each with one parameter a segment',
  'src/chassis/loaders/select-route-files.ts': 'the ending of source files',
  'src/chassis/telemetry/secret-names.ts': 'the names of secrets that stand there; tried below with the rest',
  'src/chassis/testing/fill-database.ts': 'the names of columns, by who develops the service',
};

const name = ({ file, expression }: Found) => `${file} ${expression}`;
const context = createContext({});
const script = new Script('for (const text of texts) { expression.lastIndex = 0; expression.test(text); }');

/** Whether an expression is done with all texts in time; a hanging one is interrupted. */
function isQuick(expression: RegExp): boolean {
  Object.assign(context, { expression, texts: adversaries(expression) });
  // A second attempt, because a busy machine may take the first one's time.
  return endsInTime() || endsInTime();
}

function endsInTime(): boolean {
  try {
    script.runInContext(context, { timeout: limitMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

const { found, made } = regularExpressions();
for (const expression of Object.values(secretNames)) {
  found.push({ file: 'src/chassis/telemetry/secret-names.ts', expression });
}

describe('regular expressions of the sources', () => {
  it('are all known here', () => {
    expect(found.length).toBeGreaterThan(40);
    // One that is made at run time could be made of what a client sends.
    expect([...new Set(made)].toSorted()).toEqual(Object.keys(madeOfOwnText).toSorted());
    expect(Object.keys(ownTextOnly).filter((known) => !found.some((one) => name(one) === known))).toEqual([]);
  });

  it.each(found.filter((one) => !(name(one) in ownTextOnly)))(
    '$file $expression takes time in proportion to the text',
    ({ expression }) => expect(isQuick(expression)).toBe(true),
  );

  it.each([/^(a+)+$/, /\s+$/, /^(\w|a)*!$/])('would be seen not to: %s', (expression) => {
    expect(isQuick(expression)).toBe(false);
  });
});
