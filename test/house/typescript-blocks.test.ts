import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { type CodeBlock, codeBlocks } from './code-blocks.ts';
import { exportedNames } from './exported-names.ts';
import { hasSample, parse, read, repositoryFiles, root } from './repository.ts';

/** Where a block of a document would be, so that it may import files of a module by `./`. */
const directory = join(root, 'src/modules/orders');
/** What a block may use without importing it, beside the names of `slipway`. */
const known: Record<string, string[]> = {
  express: ['Request', 'Response', 'Router', 'RequestHandler'],
  vitest: ['describe', 'expect', 'it'],
  'slipway/testing': ['bootTestService'],
  ...Object.fromEntries(
    repositoryFiles(/^src\/modules\/(orders|catalog)\/[^/]*\.ts$/).map((file) => [
      join(root, file),
      exportedNames(parse(file)).filter((name) => name !== 'default'),
    ]),
  ),
};
/** What a block may use as if it stood in a route file or in a class that asked for it. */
const cradle = ['auth', 'orderController', 'orderService', 'files', 'jobs', 'events'];

it.skipIf(!hasSample)(
  'TypeScript of the documents compiles against the package and the modules of the reference service',
  () => {
    // Those with a file are compiled in the service that the tutorial makes.
    const blocks = codeBlocks('ts').filter(({ info }) => !info.startsWith('file='));
    expect(blocks.length).toBeGreaterThan(20);
    const door = new Set(doorNames());
    const sources = new Map(blocks.map((block, index) => [join(directory, `block-${index}.ts`), block]));
    const texts = new Map([...sources].map(([file, block]) => [file, sourceOf(block, door)]));
    expect(complaints(texts).map(([file, line, text]) => at(sources.get(file), texts.get(file), line, text))).toEqual(
      [],
    );
  },
  120_000,
);

/** Context and code of a block, with imports of what it uses and does not declare. */
function sourceOf({ context, code }: CodeBlock, door: ReadonlySet<string>): string {
  const whole = context.includes('/* block */')
    ? context.replace('/* block */', () => `\n${code}`)
    : `${context}\n${code}`;
  const { used, declared } = namesIn(whole);
  const modules = { ...known, slipway: [...door] };
  const missing = (names: readonly string[]) => names.filter((name) => used.has(name) && !declared.has(name));
  const imports = Object.entries(modules).map(([from, names]) =>
    missing(names).length > 0 ? `import { ${missing(names).join(', ')} } from '${from}';` : '',
  );
  const values = missing(cradle).map((name) => `declare const ${name}: Slipway.Cradle['${name}'];`);
  if (missing(['router']).length > 0) values.push("declare const router: import('express').Router;");
  return `${imports.join(' ')} ${values.join(' ')}\n${whole}\nexport {};\n`;
}

function namesIn(text: string): { used: Set<string>; declared: Set<string> } {
  const file = ts.createSourceFile('block.ts', text, ts.ScriptTarget.Latest, true);
  const [used, declared] = [new Set<string>(), new Set<string>()];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const isName = (node.parent as ts.NamedDeclaration).name === node && node.parent.parent !== undefined;
      const isMember = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
      if (!isMember && !(isName && ts.isClassElement(node.parent))) used.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const statement of file.statements) for (const name of namesOf(statement)) declared.add(name);
  return { used, declared };
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  if (ts.isImportDeclaration(statement)) {
    const { name, namedBindings } = statement.importClause ?? {};
    const named = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : [];
    return [...(name ? [name.text] : []), ...named.map((element) => element.name.text)];
  }
  const { name } = statement as Partial<ts.DeclarationStatement>;
  return name ? [name.getText()] : [];
}

function doorNames(): string[] {
  const [section = ''] = read('docs/reference/api.md').split('\n## slipway/run');
  const found = section.matchAll(
    /^export (?:declare |abstract )*(?:function|class|const|interface|type|namespace) (\w+)/gm,
  );
  const handedOn = section.matchAll(/^export \{ (\w+) \}/gm);
  return [...found, ...handedOn].map(([, name = '']) => name);
}

/** What the compiler says of these files, with the line from 0. */
function complaints(texts: ReadonlyMap<string, string>): [file: string, line: number, text: string][] {
  const base = ts.parseJsonConfigFileContent(JSON.parse(read('tsconfig.json')), ts.sys, root).options;
  const options = { ...base, noUnusedLocals: false, noUnusedParameters: false, verbatimModuleSyntax: false };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  const modules = repositoryFiles(/^src\/modules\/.*\.ts$/).map((file) => join(root, file));
  const clients = join(root, 'src/generated/orm.d.ts');
  const program = ts.createProgram([...texts.keys(), ...modules, clients], options, host);
  return [...texts.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(
      ({ start = 0, messageText }) =>
        [
          name,
          file?.getLineAndCharacterOfPosition(start).line ?? 0,
          ts.flattenDiagnosticMessageText(messageText, ' '),
        ] as [string, number, string],
    );
  });
}

/** The complaint where a reader finds it: the line of the document, if it is one of the block. */
function at(block: CodeBlock | undefined, source: string | undefined, line: number, text: string): string {
  if (!block || !source) return text;
  const before = source.slice(0, source.indexOf(block.code)).split('\n').length - 1;
  return `${block.file}:${block.line + 1 + line - before}: ${text}`;
}
