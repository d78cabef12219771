import { join } from 'node:path';
import ts from 'typescript';
import { read, root } from './repository.ts';

/** The entries of the package, by the names that services import. */
const entries = {
  slipway: 'src/chassis/index.ts',
  'slipway/run': 'src/chassis/run.ts',
  'slipway/testing': 'src/chassis/testing/index.ts',
  'slipway/vitest': 'src/chassis/testing/service-tests.ts',
};

const printer = ts.createPrinter({ removeComments: true });

/** All that the package exports, as its declarations say, by entry and name. A release breaks what it changes. */
export function apiReport(): string {
  const { options } = ts.parseJsonConfigFileContent(JSON.parse(read('tsconfig.package.json')), ts.sys, root);
  const base = ts.parseJsonConfigFileContent(JSON.parse(read('tsconfig.json')), ts.sys, root).options;
  const files = Object.values(entries).map((file) => join(root, file));
  const all = { ...base, ...options, declaration: true, emitDeclarationOnly: true, noEmit: false };
  const program = ts.createProgram(files, { ...all, rootDir: join(root, 'src'), outDir: join(root, 'lib') });
  const sections = Object.entries(entries).map(([name, file]) => {
    const found = exportsOf(program, join(root, file));
    const texts = [...found]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([exported, symbol]) => declarationOf(program, exported, symbol));
    return `## ${name}\n\n\`\`\`ts\n${texts.join('\n')}\n\`\`\`\n`;
  });
  return `# What the package exports\n\nWritten by \`npx vitest run test/house -u\`. A line that goes or changes breaks services: it needs a major version, and a deprecation in a minor one before ([CONTRIBUTING](../../CONTRIBUTING.md)).\n\n${sections.join('\n')}`;
}

function exportsOf(program: ts.Program, file: string): Map<string, ts.Symbol> {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const symbol = source && checker.getSymbolAtLocation(source);
  if (!symbol) throw new Error(`Expected a module with exports at ${file}, found none.`);
  const exported = checker.getExportsOfModule(symbol);
  return new Map(
    exported.map((one) => [one.name, one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one]),
  );
}

const emitted = new Map<string, ts.SourceFile>();

/** The declaration as the compiler writes it for the package; of what another package declares its name. */
function declarationOf(program: ts.Program, exported: string, symbol: ts.Symbol): string {
  const file = symbol.declarations?.[0]?.getSourceFile();
  if (!file || file.fileName.includes('node_modules')) return `export { ${exported} };`;
  const declarations = emitted.get(file.fileName) ?? emit(program, file);
  emitted.set(file.fileName, declarations);
  const named = declarations.statements.filter((statement) => namesOf(statement).includes(symbol.name));
  const texts = named.map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, declarations));
  return [...named.flatMap(deprecationsIn), ...texts].join('\n');
}

/**
 * A line for each `@deprecated` of a declaration and of what is inside it, such as an option.
 *
 * @throws Error where the tag lacks since when, or what replaces it
 */
export function deprecationsIn(node: ts.Node): string[] {
  const tag = ts.getJSDocDeprecatedTag(node);
  // The variable of a statement has the comment of the statement.
  const isOwn = tag?.parent.parent === node;
  const inside: string[] = [];
  ts.forEachChild(node, (child) => void inside.push(...deprecationsIn(child)));
  if (!tag || !isOwn) return inside;
  const name = ts.isVariableStatement(node)
    ? node.declarationList.declarations[0]?.name.getText()
    : (node as Partial<ts.NamedDeclaration>).name?.getText();
  const text = ts.getTextOfJSDocComment(tag.comment)?.trim() ?? '';
  if (!/^since \d+\.\d+: \S/.test(text)) {
    throw new Error(`Expected "@deprecated since 1.2: use …" at ${name}, found "@deprecated ${text}".`);
  }
  return [`// ${name} is deprecated ${text}`, ...inside];
}

function emit(program: ts.Program, file: ts.SourceFile): ts.SourceFile {
  let text = '';
  program.emit(file, (_, content) => (text = content), undefined, true);
  return ts.createSourceFile(file.fileName, text, ts.ScriptTarget.Latest, true);
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as Partial<ts.DeclarationStatement>;
  return name ? [name.getText()] : [];
}
