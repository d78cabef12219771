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

/** What the compiler says of a file. */
function errorsOf(program: ts.Program, name: string): Said[] {
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

/** Files beside a client of the ORM: one program for all of them, because most of its time goes into what they share. */
const program = (client: string, names: readonly string[]) =>
  ts.createProgram([client, ...names.map((name) => join(fixtures, name))], options);

const ofService = ['policies', 'schemas', 'cradle', 'own-inputs', 'operations', 'calls', 'jobs'].map(
  (name) => `${name}.ts`,
);
const ofEveryType = ['every-type.ts'];

describe('what the compiler says of a mistake stands at the mistake and names the field', () => {
  const service = program(join(root, 'src/generated/orm.d.ts'), ofService);
  generateClients({ models: join(root, 'test/fixtures/every-type/models.prisma'), directory: everyType });
  const types = program(join(everyType, 'orm.d.ts'), ofEveryType);

  it.each([...ofService.map((name) => [name, service] as const), ...ofEveryType.map((name) => [name, types] as const)])(
    '%s',
    { timeout: 60_000 },
    (name, files) => {
      const expected = expectedIn(name);
      const errors = errorsOf(files, name);
      expect(expected.length).toBeGreaterThan(0);
      expect(errors.map(({ line, text }) => ({ line, text }))).toEqual(
        expected.map(({ line, text }) => ({ line, text: expect.stringContaining(text) })),
      );
    },
  );
});
