import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { generateClients } from '../../src/chassis/cli/generate-clients.ts';

const root = join(import.meta.dirname, '../..');
const fixtures = join(root, 'test/fixtures/type-errors');
mkdirSync(join(root, '.cache'), { recursive: true });
const everyType = mkdtempSync(join(root, '.cache/type-errors-'));
afterAll(() => rmSync(everyType, { recursive: true, force: true }));

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);

/** A place in a file and what the compiler says of it. */
interface Said {
  line: number;
  text: string;
}

/** What the compiler says of a file, beside a client of the ORM. */
function errorsOf(name: string, client: string): Said[] {
  const program = ts.createProgram([join(fixtures, name), client], options);
  const file = program.getSourceFile(join(fixtures, name)) as ts.SourceFile;
  return program.getSemanticDiagnostics(file).map(({ start = 0, messageText }) => ({
    line: file.getLineAndCharacterOfPosition(start).line + 1,
    text: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}

/** What the comments of a file say that the compiler says of the line below each. */
function expectedIn(name: string): Said[] {
  const lines = (ts.sys.readFile(join(fixtures, name)) as string).split('\n');
  return lines.flatMap((line, index) => {
    const [, text] = /^\s*\/\/ error: (.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [{ line: index + 2, text }];
  });
}

generateClients({ models: join(root, 'test/fixtures/every-type/models.prisma'), directory: everyType });
const own = join(root, 'src/generated/orm.d.ts');

describe('what the compiler says of a mistake stands at the mistake and names the field', () => {
  it.each([
    ['policies.ts', own],
    ['schemas.ts', own],
    ['cradle.ts', own],
    ['own-inputs.ts', own],
    ['operations.ts', own],
    ['calls.ts', own],
    ['jobs.ts', own],
    ['every-type.ts', join(everyType, 'orm.d.ts')],
  ])('%s', { timeout: 60_000 }, (name, client) => {
    const expected = expectedIn(name);
    const errors = errorsOf(name, client);
    expect(expected.length).toBeGreaterThan(0);
    expect(errors.map(({ line, text }) => ({ line, text }))).toEqual(
      expected.map(({ line, text }) => ({ line, text: expect.stringContaining(text) })),
    );
  });
});
